#include "io/slices.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr std::int64_t unlimited = 1 << 30;

using Shape = std::vector<std::int64_t>;

void expect_box(const Box& box, const Shape& start, const Shape& count) {
  EXPECT_FALSE(box.empty);
  EXPECT_EQ(box.start, start);
  EXPECT_EQ(box.count, count);
}

TEST(Slices, ReplicatedArraysAreCutIntoSharesThatDifferByAtMostOneEntry) {
  // 10 rows on 3 ranks: 4, 3, 3.
  expect_box(pieces_of({10, 5}, 4, Placement::replicated, 0, 3, unlimited).at(0), {0, 0}, {4, 5});
  expect_box(pieces_of({10, 5}, 4, Placement::replicated, 1, 3, unlimited).at(0), {4, 0}, {3, 5});
  expect_box(pieces_of({10, 5}, 4, Placement::replicated, 2, 3, unlimited).at(0), {7, 0}, {3, 5});
}

TEST(Slices, AFirstDimensionShorterThanTheNumberOfRanksIsLeftWhole) {
  expect_box(pieces_of({2, 6}, 4, Placement::replicated, 2, 3, unlimited).at(0), {0, 4}, {2, 2});
}

TEST(Slices, RanksBeyondTheLongestDimensionTakePartWithEmptyBoxes) {
  const auto pieces = pieces_of({2, 1}, 4, Placement::replicated, 2, 3, unlimited);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_TRUE(pieces[0].empty);
}

TEST(Slices, AScalarIsRankZeros) {
  const auto first = pieces_of({}, 8, Placement::replicated, 0, 2, unlimited);
  const auto second = pieces_of({}, 8, Placement::replicated, 1, 2, unlimited);
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_FALSE(first[0].empty);
  EXPECT_TRUE(second[0].empty);
}

TEST(Slices, AnArrayWithoutElementsHasNoPieces) {
  EXPECT_TRUE(pieces_of({0}, 8, Placement::replicated, 0, 2, unlimited).empty());
  EXPECT_TRUE(pieces_of({2, 0}, 8, Placement::per_rank, 1, 2, unlimited).empty());
}

TEST(Slices, RootsArraysAreRankZeros) {
  expect_box(pieces_of({5}, 8, Placement::from_root, 0, 2, unlimited).at(0), {0}, {5});
  const auto other = pieces_of({5}, 8, Placement::from_root, 1, 2, unlimited);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_TRUE(other[0].empty);
}

TEST(Slices, EachRankHasItsRow) {
  expect_box(pieces_of({3, 7}, 1, Placement::per_rank, 1, 3, unlimited).at(0), {1, 0}, {1, 7});
  expect_box(pieces_of({3}, 8, Placement::per_rank, 2, 3, unlimited).at(0), {2}, {1});
}

TEST(Slices, EachRankHasItsRows) {
  // 7 rows on 3 ranks: 3, 2, 2. Rows are never cut across, not even where there are few of them.
  expect_box(pieces_of({7, 5}, 4, Placement::rows, 0, 3, unlimited).at(0), {0, 0}, {3, 5});
  expect_box(pieces_of({7, 5}, 4, Placement::rows, 2, 3, unlimited).at(0), {5, 0}, {2, 5});
  expect_box(pieces_of({2, 6}, 4, Placement::rows, 1, 3, unlimited).at(0), {1, 0}, {1, 6});
  const auto none = pieces_of({2, 6}, 4, Placement::rows, 2, 3, unlimited);
  ASSERT_EQ(none.size(), 1U);
  EXPECT_TRUE(none[0].empty);
  // Shares of 3, 2 and 2 rows of 20 bytes; 40 bytes allow two rows a piece.
  const auto pieces = pieces_of({7, 5}, 4, Placement::rows, 0, 3, 40);
  ASSERT_EQ(pieces.size(), 2U);
  expect_box(pieces[1], {2, 0}, {1, 5});
  EXPECT_TRUE(pieces_of({7, 5}, 4, Placement::rows, 2, 3, 40).at(1).empty);
}

TEST(Slices, LargeSharesAreCutIntoAsManyPiecesOnEveryRank) {
  // Shares of 4, 3 and 3 rows of 20 bytes; 40 bytes allow two rows a piece.
  const auto first = pieces_of({10, 5}, 4, Placement::replicated, 0, 3, 40);
  const auto last = pieces_of({10, 5}, 4, Placement::replicated, 2, 3, 40);
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(last.size(), 2U);
  expect_box(first[1], {2, 0}, {2, 5});
  expect_box(last[0], {7, 0}, {2, 5});
  expect_box(last[1], {9, 0}, {1, 5});
}

TEST(Slices, ALongRowIsCutAlongTheDimensionThatAllowsIt) {
  // One row of 4000 bytes in pieces of 1000.
  const auto pieces = pieces_of({1, 1000}, 4, Placement::replicated, 0, 1, 1000);
  ASSERT_EQ(pieces.size(), 4U);
  expect_box(pieces[3], {0, 750}, {1, 250});
}

TEST(Slices, ARanksOwnRowIsCutToo) {
  const auto pieces = pieces_of({2, 100}, 1, Placement::per_rank, 1, 2, 60);
  ASSERT_EQ(pieces.size(), 2U);
  expect_box(pieces[0], {1, 0}, {1, 60});
  expect_box(pieces[1], {1, 60}, {1, 40});
}

}  // namespace
}  // namespace lockstep
