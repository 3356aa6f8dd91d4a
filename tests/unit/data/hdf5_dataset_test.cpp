#include "lockstep/data/hdf5_dataset.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/data/synthetic.hpp"

#include "unit/data/hdf5_fixture.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

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
  options.image.in_channels = 1;
  options.image.image_size = 16;
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
    options.image.in_channels = 1;
    const Splits splits = build(options);
    EXPECT_THAT(image_of(*splits.training, 1),
                ElementsAre(4.5F, 5.0F, 5.5F, 6.0F, 6.5F, 7.0F, 7.5F, 8.0F, 8.5F))
        << name;
    EXPECT_THAT(labels_of(*splits.training), ElementsAre(3, 1, 2, 0)) << name;
  }
}

TEST_F(Hdf5Data, OtherIntegersBecomeFractionsOfTheirRange) {
  EXPECT_EQ(image_of(*build(options_for("uint16.h5")).training, 1), counted(18, 1.0 / 65535.0));
  EXPECT_EQ(image_of(*build(options_for("int16.h5")).training, 1), counted(18, 1.0 / 32767.0));
  EXPECT_EQ(image_of(*build(options_for("int16_scaled.h5")).training, 1), counted(18, 0.25));
  EXPECT_EQ(image_of(*build(options_for("int64_scaled.h5")).training, 1), counted(18, 0.5));
}

TEST_F(Hdf5Data, ChunkedAndCompressedFilesAreReadAlike) {
  EXPECT_EQ(image_of(*build(options_for("deflate.h5")).training, 2), counted(36, 1.0 / 255.0));
  EXPECT_EQ(image_of(*build(options_for("deflate_float.h5")).training, 2), counted(36, 1.0));
}

TEST_F(Hdf5Data, LabelsMayHaveAnyWidthAndShape) {
  for (const char* name :
       {"labels_uint8.h5", "labels_int16.h5", "labels_big_endian.h5", "labels_n111.h5",
        "labels_n1.h5", "labels_one_hot.h5", "labels_one_hot_float.h5", "labels_one_hot_bool.h5"}) {
    const Splits splits = build(bare_options(name));
    EXPECT_THAT(labels_of(*splits.training), ElementsAre(3, 1, 2, 0)) << name;
  }
}

TEST_F(Hdf5Data, WhatIsNotSetFollowsTheData) {
  const Splits largest = build(bare_options("nchw.h5"));
  EXPECT_EQ(largest.training->num_classes(), 4);
  EXPECT_EQ(largest.training->image_shape(), (ImageShape{2, 3, 3}));
  EXPECT_EQ(build(bare_options("nhwc_unnamed.h5")).training->image_shape(), (ImageShape{2, 3, 3}));
  // One-hot rows of six columns, though no sample is of the last two classes.
  EXPECT_EQ(build(bare_options("labels_one_hot.h5")).training->num_classes(), 6);
  Hdf5Options more = bare_options("nchw.h5");
  more.image.num_classes = 9;
  EXPECT_EQ(build(more).training->num_classes(), 9);
}

TEST_F(Hdf5Data, AShapeOfTwoMeaningsIsReadAsItIsSaid) {
  Hdf5Options options = bare_options("cubes.h5");
  options.image_layout = "NCHW";
  EXPECT_THAT(image_of(*build(options).training, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  options.image_layout = "NHWC";
  EXPECT_THAT(image_of(*build(options).training, 0), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
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
  options.image.num_classes = 10;
  options.image.in_channels = options.image.image_size = 1;
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
  Hdf5Options options;
  options.train_data = LOCKSTEP_DIGITS;
  const Splits splits = build(options);
  EXPECT_EQ(splits.training->image_shape(), (ImageShape{1, 8, 8}));
  EXPECT_EQ(splits.training->num_classes(), 10);
  EXPECT_EQ(splits.fingerprint, fingerprint(*splits.training));
  EXPECT_EQ(splits.training->size(), 1442);
  EXPECT_EQ(splits.validation->size(), 355);
  // The first row of the source's first sample, a zero.
  std::vector<float> row = image_of(*splits.training, 0);
  row.resize(8);
  EXPECT_THAT(row, ElementsAre(0, 0, 5 / 16.0F, 13 / 16.0F, 9 / 16.0F, 1 / 16.0F, 0, 0));
  EXPECT_EQ(splits.training->label(0), 0);
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
  const SyntheticBuilder builder(
      {.synthetic_size = 4, .synthetic_val_size = 3, .image = {.image_size = 2}});
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
