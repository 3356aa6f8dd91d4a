#include "io/file_parts.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

/// Memory whose addresses stand for the bytes: nothing is read.
const std::byte memory[64] = {};

ArrayView array_of(DType dtype, std::vector<std::int64_t> shape, Placement placement,
                   std::int64_t begin = 0) {
  return {.path = "/a",
          .dtype = dtype,
          .shape = std::move(shape),
          .data = memory + begin,
          .placement = placement};
}

struct Expected {
  std::int64_t offset;
  std::int64_t begin;  ///< in `memory`
  std::size_t bytes;
};

void expect_parts(const std::vector<FilePart>& parts, const std::vector<Expected>& expected) {
  ASSERT_EQ(parts.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(parts[i].offset, expected[i].offset) << i;
    EXPECT_EQ(parts[i].bytes.data() - memory, expected[i].begin) << i;
    EXPECT_EQ(parts[i].bytes.size(), expected[i].bytes) << i;
  }
}

TEST(FileParts, OfReplicatedArraysEveryRankHasABalancedShareOfAllBytes) {
  // 12 and 8 bytes make 20: 7, 7 and 6 on three ranks. Rank 1's 7 are 5 of the first, 2 of the
  // second.
  const std::vector<ArrayView> arrays = {array_of(DType::float32, {3}, Placement::replicated),
                                         array_of(DType::float64, {}, Placement::replicated, 30)};
  expect_parts(parts_of(arrays, {1000, 2000}, 0, 3), {{1000, 0, 7}});
  expect_parts(parts_of(arrays, {1000, 2000}, 1, 3), {{1007, 7, 5}, {2000, 30, 2}});
  expect_parts(parts_of(arrays, {1000, 2000}, 2, 3), {{2002, 32, 6}});
}

TEST(FileParts, OtherArraysDoNotMoveTheShares) {
  const std::vector<ArrayView> arrays = {array_of(DType::uint8, {4}, Placement::replicated),
                                         array_of(DType::uint8, {10}, Placement::from_root, 10),
                                         array_of(DType::uint8, {4}, Placement::replicated, 20)};
  expect_parts(parts_of(arrays, {100, 200, 300}, 0, 2), {{100, 0, 4}, {200, 10, 10}});
  expect_parts(parts_of(arrays, {100, 200, 300}, 1, 2), {{300, 20, 4}});
}

TEST(FileParts, OfArraysARankOneRowIsWritten) {
  const std::vector<ArrayView> arrays = {array_of(DType::uint8, {3, 7}, Placement::per_rank),
                                         array_of(DType::int64, {3}, Placement::per_rank, 40)};
  expect_parts(parts_of(arrays, {100, 200}, 1, 3), {{107, 0, 7}, {208, 40, 8}});
}

TEST(FileParts, OfRowsTheOwnOnesAreWritten) {
  // 7 rows of 4 bytes on 3 ranks: 3, 2, 2. Of 2 rows the last rank has none.
  const std::vector<ArrayView> arrays = {array_of(DType::float32, {7}, Placement::rows),
                                         array_of(DType::uint8, {2, 2}, Placement::rows, 40)};
  expect_parts(parts_of(arrays, {100, 200}, 0, 3), {{100, 0, 12}, {200, 40, 2}});
  expect_parts(parts_of(arrays, {100, 200}, 2, 3), {{120, 0, 8}});
}

TEST(FileParts, AreInOrderOfOffset) {
  const std::vector<ArrayView> arrays = {array_of(DType::uint8, {2}, Placement::from_root),
                                         array_of(DType::uint8, {3}, Placement::from_root, 10)};
  expect_parts(parts_of(arrays, {500, 400}, 0, 2), {{400, 10, 3}, {500, 0, 2}});
}

TEST(FileParts, ArraysWithoutElementsHaveNone) {
  const std::vector<ArrayView> arrays = {array_of(DType::float32, {0}, Placement::replicated),
                                         array_of(DType::float32, {2, 0}, Placement::per_rank),
                                         array_of(DType::float32, {0, 3}, Placement::rows)};
  EXPECT_TRUE(parts_of(arrays, {0, 0, 0}, 0, 2).empty());
}

TEST(FileParts, AreCutIntoRoundsOfEqualBytes) {
  const std::vector<FilePart> parts = {{.offset = 100, .bytes = {memory, 5}},
                                       {.offset = 200, .bytes = {memory + 10, 8}}};
  const auto rounds = rounds_of(parts, 6);
  ASSERT_EQ(rounds.size(), 3U);
  expect_parts(rounds[0], {{100, 0, 5}, {200, 10, 1}});
  expect_parts(rounds[1], {{201, 11, 6}});
  expect_parts(rounds[2], {{207, 17, 1}});
  EXPECT_EQ(rounds_of(parts, 13).size(), 1U);
  EXPECT_TRUE(rounds_of({}, 6).empty());
}

}  // namespace
}  // namespace lockstep
