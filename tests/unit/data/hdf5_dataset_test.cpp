#include "lockstep/data/hdf5_dataset.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/data/synthetic.hpp"
#include "lockstep/io/io_thread.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// The files are written by make_data_files.py, which says what is in them.
std::string file(const std::string& name) {
  return LOCKSTEP_DATA_FILES "/" + name;
}

/// Four images of two channels and 3 x 3 pixels, four classes, unless a test says otherwise.
Hdf5Options options_for(const std::string& name) {
  return {.train_data = file(name), .num_classes = 4, .in_channels = 2, .image_size = 3};
}

class Hdf5Data : public testing::Test {
 protected:
  Splits build(const Hdf5Options& options, std::uint64_t seed = 42) {
    return Hdf5Builder(options).build(io_, *comm_, seed);
  }

  /// What the error says, with its kind; every rank must throw the same kind.
  std::string refusal(const Hdf5Options& options) {
    try {
      build(options);
    } catch (const AgreedError& error) {
      return (error.exit_code() == ExitCode::usage ? "usage: " : "failure: ") +
             std::string(error.what());
    }
    return "accepted";
  }

  std::unique_ptr<MpiCommunicator> comm_ = MpiCommunicator::duplicate_world();
  IoThread io_;
};

std::vector<float> image_of(const Dataset& dataset, std::int64_t id) {
  std::vector<float> image(static_cast<std::size_t>(dataset.image_shape().size()));
  EXPECT_EQ(dataset.read(id, image), dataset.label(id));
  return image;
}

std::vector<std::int64_t> labels_of(const Dataset& dataset) {
  std::vector<std::int64_t> labels;
  for (std::int64_t id = 0; id < dataset.size(); ++id) labels.push_back(dataset.label(id));
  return labels;
}

/// 18 values that count up from `first`, times `scale`.
std::vector<float> counted(double first, double scale) {
  std::vector<float> values;
  for (int i = 0; i < 18; ++i) values.push_back(static_cast<float>((first + i) * scale));
  return values;
}

TEST_F(Hdf5Data, BytesBecomeFractionsOf255) {
  const Splits splits = build(options_for("nchw.h5"));
  EXPECT_EQ(splits.training->size(), 4);
  EXPECT_EQ(splits.training->image_shape(), (ImageShape{2, 3, 3}));
  EXPECT_EQ(splits.training->num_classes(), 4);
  EXPECT_THAT(labels_of(*splits.training), ElementsAre(3, 1, 2, 0));
  EXPECT_EQ(image_of(*splits.training, 2), counted(36, 1.0 / 255.0));
  EXPECT_EQ(splits.validation, nullptr);
}

TEST_F(Hdf5Data, EveryByteIsScaledAsSinglePrecisionDivisionWould) {
  Hdf5Options options = options_for("every_byte.h5");
  options.in_channels = 1;
  options.image_size = 16;
  const std::vector<float> image = image_of(*build(options).training, 0);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(image[byte], static_cast<float>(byte) / 255.0F);
  }
}

TEST_F(Hdf5Data, BytesAreMultipliedByTheAttributeScale) {
  EXPECT_EQ(image_of(*build(options_for("scaled.h5")).training, 1), counted(18, 1.0 / 16.0));
  EXPECT_EQ(image_of(*build(options_for("scaled_by_integer.h5")).training, 1), counted(18, 2.0));
}

TEST_F(Hdf5Data, ChannelsLastIsReadAsChannelsFirst) {
  for (const char* name : {"nhwc.h5", "nhwc_unnamed.h5", "nhwc_bytes_text.h5"}) {
    const Splits splits = build(options_for(name));
    EXPECT_EQ(splits.training->image_shape(), (ImageShape{2, 3, 3})) << name;
    EXPECT_EQ(image_of(*splits.training, 3), counted(54, 1.0 / 255.0)) << name;
  }
  EXPECT_EQ(image_of(*build(options_for("nhwc_float.h5")).training, 3), counted(54, 1.0));
}

TEST_F(Hdf5Data, FloatingPointValuesAreKept) {
  for (const char* name : {"nhw_double.h5", "half.h5"}) {
    Hdf5Options options = options_for(name);
    options.in_channels = 1;
    const Splits splits = build(options);
    EXPECT_THAT(image_of(*splits.training, 1),
                ElementsAre(4.5F, 5.0F, 5.5F, 6.0F, 6.5F, 7.0F, 7.5F, 8.0F, 8.5F))
        << name;
    EXPECT_THAT(labels_of(*splits.training), ElementsAre(3, 1, 2, 0)) << name;
  }
}

TEST_F(Hdf5Data, DataSetsMayHaveOtherNames) {
  Hdf5Options options = options_for("other_keys.h5");
  options.image_key = "x";
  options.label_key = "y";
  EXPECT_EQ(image_of(*build(options).training, 0), counted(0, 1.0 / 255.0));
}

TEST_F(Hdf5Data, AGroupedFileBringsItsValidation) {
  const Splits splits = build(options_for("grouped.h5"));
  EXPECT_EQ(splits.training->size(), 4);
  EXPECT_EQ(splits.training->name(), file("grouped.h5") + ":/train");
  ASSERT_NE(splits.validation, nullptr);
  EXPECT_EQ(splits.validation->size(), 2);
  EXPECT_EQ(image_of(*splits.validation, 0), counted(100, 1.0 / 255.0));
}

TEST_F(Hdf5Data, ValidationMayBeAnotherFile) {
  Hdf5Options options = options_for("nchw.h5");
  options.val_data = file("shifted.h5");
  EXPECT_EQ(image_of(*build(options).validation, 0), counted(1, 1.0 / 255.0));
  options.val_data = file("grouped.h5");
  EXPECT_EQ(image_of(*build(options).validation, 0), counted(100, 1.0 / 255.0));
  options.train_data = file("grouped.h5");
  options.val_data = file("shifted.h5");
  EXPECT_EQ(image_of(*build(options).validation, 0), counted(1, 1.0 / 255.0));
}

TEST_F(Hdf5Data, AFractionIsSplitOffWhateverTheSeed) {
  Hdf5Options options = options_for("twenty.h5");
  options.num_classes = 10;
  options.in_channels = options.image_size = 1;
  options.val_fraction = 0.25;
  for (const std::uint64_t seed : {1ULL, 2ULL}) {
    const Splits splits = build(options, seed);
    std::vector<float> validation;
    std::set<float> all;
    for (std::int64_t id = 0; id < splits.validation->size(); ++id) {
      validation.push_back(image_of(*splits.validation, id)[0]);
      all.insert(validation.back());
      EXPECT_EQ(splits.validation->label(id), static_cast<std::int64_t>(validation.back()) % 10);
    }
    for (std::int64_t id = 0; id < splits.training->size(); ++id) {
      all.insert(image_of(*splits.training, id)[0]);
    }
    EXPECT_EQ(splits.training->size(), 15);
    EXPECT_EQ(all.size(), 20U);
    EXPECT_THAT(validation, ElementsAre(3, 5, 8, 13, 19));  // printed by reference_values.py
  }
}

TEST_F(Hdf5Data, ReadsTheShippedDigits) {
  const Splits splits = build({.train_data = LOCKSTEP_DIGITS,
                               .val_data = LOCKSTEP_DIGITS,
                               .num_classes = 10,
                               .in_channels = 1,
                               .image_size = 8});
  EXPECT_EQ(splits.training->size(), 1442);
  EXPECT_EQ(splits.validation->size(), 355);
  // The first row of the source's first sample, a zero.
  std::vector<float> row = image_of(*splits.training, 0);
  row.resize(8);
  EXPECT_THAT(row, ElementsAre(0, 0, 5 / 16.0F, 13 / 16.0F, 9 / 16.0F, 1 / 16.0F, 0, 0));
  EXPECT_EQ(splits.training->label(0), 0);
}

TEST_F(Hdf5Data, NamesAFileThatIsMissing) {
  EXPECT_THAT(refusal(options_for("nowhere.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("nowhere.h5"), HasSubstr("train_data"),
                    HasSubstr("relative")));
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("usage: "), HasSubstr("--train_data")));
  Hdf5Options options = options_for("nchw.h5");
  options.val_data = "absent.h5";
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("absent.h5"), HasSubstr("val_data")));
}

TEST_F(Hdf5Data, NamesAFileThatIsNotHdf5) {
  EXPECT_THAT(refusal(options_for("not_hdf5.h5")), HasSubstr("not_hdf5.h5"));
}

TEST_F(Hdf5Data, NamesNearDataSetsWhereTheKeyIsMissing) {
  EXPECT_THAT(refusal(options_for("misspelt.h5")),
              AllOf(HasSubstr("/images"), HasSubstr("misspelt.h5"), HasSubstr("'/imags'"),
                    HasSubstr("--image_key")));
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
      {"short_integers.h5", {"/images", "another type", "uint8"}},
      {"no_samples.h5", {"/images", "no samples"}},
      {"every_byte.h5", {"/images", "1 x 16 x 16", "2 x 3 x 3", "in_channels"}},
  };
  for (const auto& [name, parts] : expectations) {
    const std::string text = refusal(options_for(name));
    EXPECT_THAT(text, AllOf(HasSubstr("usage: "), HasSubstr(name)));
    for (const char* part : parts) EXPECT_THAT(text, HasSubstr(part)) << name;
  }
  EXPECT_THAT(refusal(options_for("text_labels.h5")),
              AllOf(HasSubstr("text_labels.h5"), HasSubstr("/labels")));
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

TEST_F(Hdf5Data, AFailureOnOneRankIsTheSameErrorOnAll) {
  if (comm_->size() == 1) GTEST_SKIP() << "needs two ranks";
  EXPECT_THAT(refusal(options_for(comm_->rank() == 1 ? "nowhere.h5" : "nchw.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("on rank 1"), HasSubstr("nowhere.h5"),
                    HasSubstr("try: paths are relative")));
}

TEST_F(Hdf5Data, OtherDataOnOneRankIsRefused) {
  if (comm_->size() == 1) GTEST_SKIP() << "needs two ranks";
  EXPECT_THAT(refusal(options_for(comm_->rank() == 1 ? "shifted.h5" : "nchw.h5")),
              AllOf(HasSubstr("rank 1"), HasSubstr("rank 0"), HasSubstr("same file")));
}

TEST_F(Hdf5Data, FieldsSetTheOptions) {
  Hdf5Builder builder;
  for (const Field& field : builder.fields()) {
    if (field.name() == "train_data") field.assign(file("other_keys.h5"));
    if (field.name() == "image_key") field.assign("x");
    if (field.name() == "label_key") field.assign("y");
    if (field.name() == "num_classes") field.assign("4");
    if (field.name() == "in_channels") field.assign("2");
    if (field.name() == "image_size") field.assign("3");
    if (field.name() == "val_fraction") {
      EXPECT_TRUE(field.assign("1"));
      EXPECT_FALSE(field.assign("0.5"));
    }
  }
  const Splits splits = builder.build(io_, *comm_, 42);
  EXPECT_EQ(splits.training->size(), 2);
  EXPECT_EQ(splits.validation->size(), 2);
}

TEST_F(Hdf5Data, SyntheticValidationSamplesAreNotTrainingSamples) {
  const SyntheticBuilder builder({.synthetic_size = 4, .synthetic_val_size = 3, .image_size = 2});
  const Splits splits = builder.build(io_, *comm_, 42);
  ASSERT_EQ(splits.training->size(), 4);
  ASSERT_EQ(splits.validation->size(), 3);
  EXPECT_EQ(splits.training->image_shape(), (ImageShape{3, 2, 2}));
  for (std::int64_t a = 0; a < 3; ++a) {
    for (std::int64_t b = 0; b < 4; ++b) {
      EXPECT_NE(image_of(*splits.validation, a), image_of(*splits.training, b));
    }
  }
}

}  // namespace
}  // namespace lockstep
