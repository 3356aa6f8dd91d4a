#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/data/hdf5_fixture.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Names = std::pair<std::string, std::string>;

/// The names of the training and validation data that are found.
Names found(const Splits& splits) {
  return {splits.training->name(), splits.validation ? splits.validation->name() : "none"};
}

TEST_F(Hdf5Data, FindsUsualNames) {
  EXPECT_EQ(found(build(bare_options("usual_xy.h5"))), Names(file("usual_xy.h5") + ":/", "none"));
  EXPECT_EQ(found(build(bare_options("usual_suffix.h5"))),
            Names(file("usual_suffix.h5") + ":/X_train", file("usual_suffix.h5") + ":/X_test"));
  EXPECT_EQ(
      found(build(bare_options("usual_prefix.h5"))),
      Names(file("usual_prefix.h5") + ":/train_images", file("usual_prefix.h5") + ":/val_images"));
  EXPECT_EQ(found(build(bare_options("usual_groups.h5"))),
            Names(file("usual_groups.h5") + ":/train", file("usual_groups.h5") + ":/val"));
  const Splits splits = build(bare_options("usual_suffix.h5"));
  EXPECT_EQ(image_of(*splits.validation, 0)[0], 100 / 255.0F);
  EXPECT_EQ(splits.validation->label(0), 3);
  // /images is taken though /x would do as well.
  EXPECT_EQ(image_of(*build(bare_options("usual_and_own.h5")).training, 0)[0], 0.0F);
}

TEST_F(Hdf5Data, FindsTheOnlyDataSetsThatFit) {
  const Splits splits = build(bare_options("only_ones.h5"));
  EXPECT_EQ(splits.training->size(), 4);
  EXPECT_EQ(image_of(*splits.training, 1)[0], 18 / 255.0F);
  EXPECT_EQ(splits.training->label(0), 3);
  EXPECT_EQ(build(bare_options("misspelt.h5")).training->size(), 4);
}

TEST_F(Hdf5Data, ListsWhatCouldBeMeant) {
  EXPECT_THAT(refusal(bare_options("two_images.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("find the images"), HasSubstr("/left, /right"),
                    HasSubstr("--image_key")));
  EXPECT_THAT(refusal(bare_options("two_labels.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("labels of /images"),
                    HasSubstr("/coarse, /fine"), HasSubstr("--label_key")));
  EXPECT_THAT(refusal(bare_options("no_images.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("no data set can be"),
                    HasSubstr("/table (float64 [4, 18])"), HasSubstr("--image_key")));
  EXPECT_THAT(refusal(bare_options("no_labels.h5")),
              AllOf(HasSubstr("usage: "), HasSubstr("labels of /images"),
                    HasSubstr("/images (uint8 [4, 2, 3, 3])"), HasSubstr("--label_key")));
  Hdf5Options options = bare_options("two_images.h5");
  options.image_key = "right";
  EXPECT_EQ(image_of(*build(options).training, 0)[0], 1 / 255.0F);
  options = bare_options("two_labels.h5");
  options.label_key = "fine";
  EXPECT_EQ(build(options).training->label(0), 3);
}

TEST_F(Hdf5Data, PartsMayHaveKeysOfTheirOwn) {
  Hdf5Options options = bare_options("own_keys.h5");
  options.image_key = "/a/pictures";
  options.label_key = "/a/kinds";
  options.val_image_key = "/b/pictures";
  options.val_label_key = "/b/kinds";
  const Splits splits = build(options);
  EXPECT_EQ(splits.training->size(), 4);
  EXPECT_EQ(splits.validation->size(), 2);
  EXPECT_EQ(image_of(*splits.validation, 0)[0], 100 / 255.0F);
  options.val_image_key = "c";
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("usage: "), HasSubstr("val_image_key")));
}

TEST_F(Hdf5Data, TestSamplesAreKeptWhereAFractionIsValidatedOn) {
  Hdf5Options options = bare_options("usual_suffix.h5");
  options.val_fraction = 0.5;
  const Splits splits = build(options);
  EXPECT_EQ(splits.training->size() + splits.validation->size(), 4);
}

}  // namespace
}  // namespace lockstep
