#include "lockstep/data/epoch_order.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

std::vector<std::int64_t> ids_of(const EpochOrder& order, std::int64_t count) {
  std::vector<std::int64_t> ids;
  for (std::int64_t position = 0; position < count; ++position) ids.push_back(order.at(position));
  return ids;
}

std::vector<std::int64_t> all_ids(std::uint64_t seed, std::int64_t epoch, std::int64_t size) {
  return ids_of(EpochOrder(seed, epoch, size), size);
}

/// The sum of (seen - expected)^2 / expected over equally likely cells.
double chi_square(const std::vector<std::int64_t>& seen) {
  const double expected = static_cast<double>(std::accumulate(seen.begin(), seen.end(), 0L)) /
                          static_cast<double>(seen.size());
  double sum = 0.0;
  for (const std::int64_t count : seen) {
    const double excess = static_cast<double>(count) - expected;
    sum += excess * excess / expected;
  }
  return sum;
}

TEST(EpochOrder, VisitsEachSampleOnceAtAnySize) {
  std::vector<std::int64_t> sizes(300);
  std::iota(sizes.begin(), sizes.end(), 1);
  sizes.insert(sizes.end(), {1023, 1024, 1025, 1797, 9999, 10000, 65537});
  for (const std::int64_t size : sizes) {
    std::vector<std::int64_t> ids = all_ids(42, 5, size);
    std::sort(ids.begin(), ids.end());
    std::vector<std::int64_t> expected(static_cast<std::size_t>(size));
    std::iota(expected.begin(), expected.end(), 0);
    ASSERT_EQ(ids, expected) << "size " << size;
  }
}

// The constants are printed by reference_values.py, another implementation of the algorithm that
// the header documents.
TEST(EpochOrder, NeverChangesFromOneReleaseToTheNext) {
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(all_ids(42, 0, 10), (Ids{2, 3, 8, 4, 5, 9, 7, 1, 6, 0}));
  EXPECT_EQ(all_ids(42, 1, 10), (Ids{4, 5, 7, 9, 6, 0, 1, 3, 2, 8}));
  EXPECT_EQ(ids_of(EpochOrder(42, 0, 1797), 10),
            (Ids{1255, 138, 14, 1409, 152, 701, 110, 773, 345, 1622}));
  EXPECT_EQ(ids_of(EpochOrder(7, 3, 50'000), 10),
            (Ids{22623, 45681, 34624, 32786, 17324, 46157, 41474, 11053, 41278, 49638}));
  EXPECT_EQ(ids_of(EpochOrder((1ULL << 63U) + 5, 1LL << 40U, 1'000'000'000), 5),
            (Ids{897956364, 462347866, 180716305, 656824880, 788110311}));
  EXPECT_EQ(ids_of(EpochOrder(1, 0, 1LL << 62U), 3),
            (Ids{1980013880988798483, 611985284144709293, 4228472417338907261}));
}

TEST(EpochOrder, DiffersFromEpochToEpochAndSeedToSeed) {
  for (const std::int64_t size : {100, 1797}) {
    const std::vector<std::int64_t> order = all_ids(42, 0, size);
    for (const auto& other :
         {all_ids(42, 1, size), all_ids(43, 0, size), all_ids(42, 1LL << 32U, size),
          all_ids((1ULL << 32U) + 42, 0, size)}) {
      std::int64_t same = 0;
      for (std::size_t i = 0; i < order.size(); ++i) same += order[i] == other[i] ? 1 : 0;
      // Two random orders agree at one position on average.
      EXPECT_LT(same, 10);
    }
  }
}

TEST(EpochOrder, GivesEachOrderOfThreeSamplesEquallyOften) {
  std::map<std::vector<std::int64_t>, std::int64_t> seen;
  for (std::int64_t epoch = 0; epoch < 6000; ++epoch) ++seen[all_ids(1, epoch, 3)];
  ASSERT_EQ(seen.size(), 6U);
  std::vector<std::int64_t> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  EXPECT_LT(chi_square(counts), 20.5);  // exceeded by chance once in 1000, 5 degrees of freedom
}

TEST(EpochOrder, SendsEachPositionToEachSampleEquallyOften) {
  for (const std::int64_t position : {0, 1, 4, 9}) {
    std::vector<std::int64_t> counts(10);
    for (std::int64_t epoch = 0; epoch < 5000; ++epoch) {
      ++counts[static_cast<std::size_t>(EpochOrder(2, epoch, 10).at(position))];
    }
    EXPECT_LT(chi_square(counts), 27.9);  // once in 1000, 9 degrees of freedom
  }
}

TEST(EpochOrder, PutsNeighboursInIndependentPlaces) {
  // Which tenth of 1797 samples a position lies in says nothing about the tenth of the next one.
  std::vector<std::int64_t> counts(100);
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<std::int64_t> ids = all_ids(3, epoch, 1797);
    for (std::size_t i = 0; i + 1 < ids.size(); i += 2) {
      ++counts[static_cast<std::size_t>(ids[i] * 10 / 1797 * 10 + ids[i + 1] * 10 / 1797)];
    }
  }
  EXPECT_LT(chi_square(counts), 148.2);  // once in 1000, 99 degrees of freedom
}

TEST(EpochOrder, RefusesPositionsOutsideTheEpoch) {
  const EpochOrder order(42, 0, 10);
  EXPECT_THROW(order.at(10), Error);
  EXPECT_THROW(order.at(-1), Error);
  EXPECT_THROW(EpochOrder(42, 0, 0).at(0), Error);
  EXPECT_THROW(EpochOrder(42, 0, -1), Error);
}

}  // namespace
}  // namespace lockstep
