#include "lockstep/train/weight_ranges.hpp"

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::vector<ElementRange> ranges_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<NamedTensor> tensors;
  for (const auto& shape : shapes) tensors.push_back({"tensor", at::zeros(shape)});
  return weight_ranges(FlatLayout(tensors));
}

// Entries begin at multiples of 16 elements.
TEST(WeightRanges, AreTheTensorsOfTwoAndMoreDimensions) {
  const std::vector<ElementRange> expected{{16, 26}, {48, 57}};
  EXPECT_EQ(ranges_of({{5}, {2, 5}, {10}, {1, 1, 3, 3}}), expected);
}

TEST(WeightRanges, JoinNeighbours) {
  const std::vector<ElementRange> expected{{0, 26}};
  EXPECT_EQ(ranges_of({{2, 5}, {2, 5}, {3}}), expected);
}

TEST(WeightRanges, AreNoneWhereAllIsNormsAndBiases) {
  EXPECT_THAT(ranges_of({{5}, {3}}), testing::IsEmpty());
}

}  // namespace
}  // namespace lockstep
