#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/data/hdf5_fixture.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Hdf5Data, NamesAFileThatIsMissing) {
  EXPECT_THAT(refusal(options_for("nowhere.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("nowhere.h5"), HasSubstr("train_data"),
                    HasSubstr("relative")));
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("usage: "), HasSubstr("--train_data")));
  Hdf5Options options = options_for("nchw.h5");
  options.val_data = "absent.h5";
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("absent.h5"), HasSubstr("val_data")));
}

TEST_F(Hdf5Data, SaysWhatIsWrongWithAFileBeforeWhatTheLibrarySays) {
  EXPECT_THAT(refusal(options_for("not_hdf5.h5")),
              AllOf(StartsWith("usage: open train_data"), HasSubstr("not_hdf5.h5"),
                    HasSubstr("it is not an HDF5 file")));
  EXPECT_THAT(refusal(options_for("")), AllOf(HasSubstr("usage: "), HasSubstr("a directory")));
  for (const char* name : {"cut_short.h5", "damaged_chunk.h5"}) {
    EXPECT_THAT(refusal(options_for(name)),
                AllOf(StartsWith("usage: read "), HasSubstr(name),
                      HasSubstr(std::string(name) + ": it is cut short or damaged")));
  }
}

TEST_F(Hdf5Data, NamesNearDataSetsWhereTheKeyIsMissing) {
  Hdf5Options options = options_for("misspelt.h5");
  options.image_key = "images";
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("/images"), HasSubstr("misspelt.h5"),
                                      HasSubstr("'/imags'"), HasSubstr("--image_key")));
}

TEST_F(Hdf5Data, NamesWhatDoesNotFitAndWhatWasExpected) {
  using Expectation = std::pair<const char*, std::vector<const char*>>;
  const std::vector<Expectation> expectations{
      {"too_few_labels.h5", {"/labels", "[3]", "[4]"}},
      {"label_too_large.h5", {"/labels", "sample 2 is 4", "0 to 3", "num_classes"}},
      {"label_negative.h5", {"/labels", "sample 1 is -1", "0 to 3"}},
      {"float_labels.h5", {"/labels", "float64", "integers"}},
      {"flat_images.h5", {"/images", "[4, 18]", "N,C,H,W"}},
      {"unknown_layout.h5", {"/images", "CHWN", "NHWC"}},
      {"layout_of_other_rank.h5", {"/images", "NHW", "[4, 2, 3, 3]"}},
      {"text_scale.h5", {"/images", "scale"}},
      {"wide_integers.h5", {"/images", "int32", "attribute scale"}},
      {"text_images.h5", {"/images", "text", "floating-point"}},
      {"nan.h5", {"/images", "2 of 4 images", "NaN", "sample 1"}},
      {"infinite.h5", {"/images", "1 of 4 images", "sample 3"}},
      {"two_hot.h5", {"/labels", "sample 2", "one 1 among zeros"}},
      {"labels_one_hot.h5", {"/labels", "6 classes", "num_classes = 4"}},
      {"text_labels.h5", {"/labels", "text", "integers"}},
      {"no_samples.h5", {"/images", "no samples"}},
      {"every_byte.h5", {"/images", "1 x 16 x 16", "in_channels = 2", "image_size = 3"}},
  };
  for (const auto& [name, parts] : expectations) {
    const std::string text = refusal(options_for(name));
    EXPECT_THAT(text, AllOf(HasSubstr("usage: "), HasSubstr(name)));
    for (const char* part : parts) EXPECT_THAT(text, HasSubstr(part)) << name;
  }
}

TEST_F(Hdf5Data, NamesWhatTheDataAloneDoesNotTell) {
  EXPECT_THAT(refusal(bare_options("cubes.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("[4, 2, 2, 2]"), HasSubstr("image_layout")));
  EXPECT_THAT(refusal(bare_options("label_unknown.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("255"), HasSubstr("4 samples"),
                    HasSubstr("num_classes")));
  EXPECT_THAT(refusal(bare_options("label_negative.h5")), HasSubstr("sample 1 is -1"));
  Hdf5Options options = bare_options("nhwc.h5");
  options.image_layout = "NCHW";
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("'NHWC'"), HasSubstr("image_layout = NCHW")));
}

TEST_F(Hdf5Data, ValidationMustBeLikeTraining) {
  Hdf5Options options = bare_options("nchw.h5");
  options.val_data = file("every_byte.h5");
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("usage: "), HasSubstr("1 x 16 x 16"),
                                      HasSubstr("2 x 3 x 3"), HasSubstr("nchw.h5")));
  options.val_data = file("label_too_large.h5");
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("usage: "), HasSubstr("label_too_large.h5"),
                                      HasSubstr("sample 2 is 4"), HasSubstr("0 to 3")));
}

TEST_F(Hdf5Data, RefusesAFractionBesideValidationData) {
  Hdf5Options options = options_for("grouped.h5");
  options.val_fraction = 0.5;
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("val_fraction"), HasSubstr("grouped.h5")));
  options = options_for("nchw.h5");
  options.val_fraction = 0.5;
  options.val_data = file("shifted.h5");
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("val_fraction"), HasSubstr("shifted.h5")));
}

}  // namespace
}  // namespace lockstep
