#include "lockstep/data/image_transform.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

#include "data/memory_dataset.hpp"
#include "unit/data/fake_dataset.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAreArray;
using testing::HasSubstr;

using Values = std::vector<float>;

/// Two channels of 3 x 4 pixels that count up from 1.
constexpr ImageShape shape{2, 3, 4};
Values counted() {
  Values image(24);
  std::iota(image.begin(), image.end(), 1.0F);
  return image;
}

const ChannelStatistics statistics{{3, 5}, {2, 4}};

Values transformed(const AugmentationDraw& draw) {
  Values out(24, -99.0F);
  ImageTransform(statistics, 2, true).apply(draw, counted(), shape, out);
  return out;
}

// The constants of these two tests are printed by reference_values.py: numpy's padding and slicing,
// and Python's integers.
TEST(ImageTransform, CutsMirrorsAndNormalisesAsNumpyDoes) {
  EXPECT_THAT(transformed({2, 2, false}),
              ElementsAreArray(Values{-1.0F, -0.5F, 0.0F, 0.5F,  1.0F, 1.5F,  2.0F, 2.5F,
                                      3.0F,  3.5F,  4.0F, 4.5F,  2.0F, 2.25F, 2.5F, 2.75F,
                                      3.0F,  3.25F, 3.5F, 3.75F, 4.0F, 4.25F, 4.5F, 4.75F}));
  EXPECT_THAT(
      transformed({0, 0, false}),
      ElementsAreArray(Values{-1.5F,  -1.5F,  -1.5F,  -1.5F,  -1.5F,  -1.5F,  -1.5F,  -1.5F,
                              -1.5F,  -1.5F,  -1.0F,  -0.5F,  -1.25F, -1.25F, -1.25F, -1.25F,
                              -1.25F, -1.25F, -1.25F, -1.25F, -1.25F, -1.25F, 2.0F,   2.25F}));
  EXPECT_THAT(
      transformed({4, 1, true}),
      ElementsAreArray(Values{4.0F,   3.5F,   3.0F,   -1.5F,  -1.5F,  -1.5F,  -1.5F,  -1.5F,
                              -1.5F,  -1.5F,  -1.5F,  -1.5F,  4.5F,   4.25F,  4.0F,   -1.25F,
                              -1.25F, -1.25F, -1.25F, -1.25F, -1.25F, -1.25F, -1.25F, -1.25F}));
  EXPECT_THAT(transformed({1, 4, true}),
              ElementsAreArray(Values{-1.5F,  -1.5F,  -1.5F, -1.5F, -1.5F,  -1.5F,  0.5F,   0.0F,
                                      -1.5F,  -1.5F,  2.5F,  2.0F,  -1.25F, -1.25F, -1.25F, -1.25F,
                                      -1.25F, -1.25F, 2.75F, 2.5F,  -1.25F, -1.25F, 3.75F,  3.5F}));
  EXPECT_THAT(
      transformed({3, 3, false}),
      ElementsAreArray(Values{1.5F,  2.0F,  2.5F,  -1.5F,  3.5F,   4.0F,   4.5F,   -1.5F,
                              -1.5F, -1.5F, -1.5F, -1.5F,  3.25F,  3.5F,   3.75F,  -1.25F,
                              4.25F, 4.5F,  4.75F, -1.25F, -1.25F, -1.25F, -1.25F, -1.25F}));
}

TEST(ImageTransform, DrawsNeverChangeFromOneReleaseToTheNext) {
  const ImageTransform transform(std::nullopt, 4, true);
  EXPECT_EQ(transform.draw(42, 0, 0), (AugmentationDraw{8, 8, false}));
  EXPECT_EQ(transform.draw(42, 0, 1), (AugmentationDraw{5, 6, true}));
  EXPECT_EQ(transform.draw(42, 1, 0), (AugmentationDraw{4, 3, true}));
  EXPECT_EQ(transform.draw(43, 0, 0), (AugmentationDraw{5, 5, false}));
  EXPECT_EQ(transform.draw(42, 0, 1LL << 33U), (AugmentationDraw{1, 2, false}));
  EXPECT_EQ(transform.draw(1ULL << 40U, 7, 12345), (AugmentationDraw{2, 5, false}));
  EXPECT_THROW(static_cast<void>(transform.draw(42, -1, 0)), Error);
}

TEST(ImageTransform, DrawsEveryPlaceAndSideEquallyOften) {
  const ImageTransform transform(std::nullopt, 1, true);
  std::vector<double> seen(18);
  constexpr int draws = 18'000;
  for (int id = 0; id < draws; ++id) {
    const AugmentationDraw draw = transform.draw(7, id % 5, id / 5);
    seen[static_cast<std::size_t>(draw.top * 6 + draw.left * 2 + (draw.mirrored ? 1 : 0))] += 1;
  }
  double chi_square = 0.0;
  for (const double count : seen) chi_square += (count - 1000) * (count - 1000) / 1000;
  EXPECT_LT(chi_square, 40.8);  // exceeded by chance once in 1000, 17 degrees of freedom
}

TEST(ImageTransform, MirrorsOnlyWhereAskedTo) {
  for (std::int64_t id = 0; id < 50; ++id) {
    EXPECT_FALSE(ImageTransform(std::nullopt, 4, false).draw(42, 0, id).mirrored);
    EXPECT_EQ(ImageTransform(std::nullopt, 0, true).draw(42, 0, id).top, 0);
  }
}

TEST(ImageTransform, ValidationSamplesAreNormalisedOnly) {
  const ImageTransform transform(ChannelStatistics{{2}, {4}}, 1, true);
  const auto data =
      normalized(std::make_unique<FakeDataset>(21, nullptr, ImageShape{1, 1, 2}), transform);
  Values image(2);
  EXPECT_EQ(data->read(6, image), 6);
  EXPECT_EQ(image.front(), 1.0F);
  EXPECT_EQ(data->name(), "fake data");
  EXPECT_EQ(data->size(), 21);
  EXPECT_EQ(normalized(nullptr, transform), nullptr);
}

TEST(ImageTransform, NormalisesInPlace) {
  Values image = counted();
  ImageTransform(statistics, 0, false).normalize(image, shape);
  EXPECT_EQ(image, transformed({2, 2, false}));
  image = counted();
  ImageTransform(ChannelStatistics{{1}, {0.5}}, 0, false).normalize(image, shape);
  EXPECT_EQ(image.front(), 0.0F);
  EXPECT_EQ(image.back(), 46.0F);
}

TEST(ChannelStatistics, AreThoseOfAllPixels) {
  // Channel 0 holds 1 to 6: mean 3.5, variance 35 / 12. Channel 1 holds nothing but 7.
  const MemoryDataset data("data", {2, 1, 2}, 2, Values{1, 2, 7, 7, 3, 4, 7, 7, 5, 6, 7, 7}, 1.0,
                           {0, 1, 0});
  const ChannelStatistics found = channel_statistics(data);
  EXPECT_DOUBLE_EQ(found.mean[0], 3.5);
  EXPECT_DOUBLE_EQ(found.deviation[0], std::sqrt(35.0 / 12.0));
  EXPECT_EQ(found.mean[1], 7.0);
  EXPECT_EQ(found.deviation[1], 1.0);
  // A large mean must not swallow a small deviation.
  const MemoryDataset far("far", {1, 1, 2}, 2, Values{65536.0F, 65536.5F, 65536.0F, 65536.5F}, 1.0,
                          {0, 1});
  EXPECT_DOUBLE_EQ(channel_statistics(far).deviation[0], 0.25);
}

TEST(ChannelStatistics, AreReadBackFromTheirText) {
  const ChannelStatistics odd{{1.0 / 3.0, -2}, {0.1, 1e-9}};
  const auto again = ChannelStatistics::parse(odd.text());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->mean, odd.mean);
  EXPECT_EQ(again->deviation, odd.deviation);
  for (const char* wrong :
       {"", "0.5", "0.5/0", "0.5/-1", "0.5,0.5/1", "a/b", "0.5,/1,1", "nan/1"}) {
    EXPECT_FALSE(ChannelStatistics::parse(wrong)) << wrong;
  }
}

std::string refusal(const TransformOptions& options) {
  try {
    make_transform(options, FakeDataset(4, {}, {2, 3, 4}));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MakeTransform, FollowsTheOptions) {
  const FakeDataset data(3, {}, {1, 1, 2});  // 0, 0.01, 1, 1.01, 2, 2.01
  EXPECT_EQ(make_transform({}, data).normalization_text(), "none");
  EXPECT_EQ(make_transform({.normalize = "0.5/2"}, data).normalization_text(), "0.5/2");
  const auto own =
      ChannelStatistics::parse(make_transform({.normalize = "data"}, data).normalization_text());
  ASSERT_TRUE(own);
  EXPECT_NEAR(own->mean[0], 1.005, 1e-7);
  EXPECT_NEAR(own->deviation[0], std::sqrt(2.0 / 3.0 + 0.000025), 1e-7);
}

TEST(MakeTransform, RefusesWhatDoesNotFitTheImages) {
  EXPECT_THAT(refusal({.crop_padding = 3}),
              AllOf(HasSubstr("crop_padding = 3"), HasSubstr("3 x 4")));
  EXPECT_THAT(refusal({.normalize = "1,2,3/1,1,1"}),
              AllOf(HasSubstr("3 channels"), HasSubstr("have 2")));
  EXPECT_EQ(refusal({.normalize = "1,2/1,1", .crop_padding = 2}), "accepted");
}

TEST(TransformFields, RefuseTextsThatAreNoNormalisation) {
  TransformOptions options;
  const FieldTable table = fields(options);
  ASSERT_EQ(table.at(0).name(), "normalize");
  EXPECT_TRUE(table[0].assign("mean"));
  EXPECT_TRUE(table[0].assign("0.5/0"));
  EXPECT_FALSE(table[0].assign("0.5/0.25"));
  EXPECT_EQ(options.normalize, "0.5/0.25");
}

}  // namespace
}  // namespace lockstep
