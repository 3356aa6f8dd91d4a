#include "lockstep/ddp/bucket_plan.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

struct Case {
  const char* name;
  std::vector<std::int64_t> offsets;
  std::int64_t size;
  std::int64_t bucket_elements;
  std::int64_t last_bucket_elements;
  std::vector<Bucket> expected;
};

// Entries of 40, 20, 30, 10, 5 and 5 elements in all but the first two cases.
const std::vector<Case> cases{
    {"one entry", {0}, 100, 10, 10, {{0, 1, 0, 100}}},
    {"all in the last bucket", {0, 8}, 16, 100, 16, {{0, 2, 0, 16}}},
    {"the last bucket takes what fits",
     {0, 40, 60, 90, 100, 105},
     110,
     1000,
     10,
     {{0, 4, 0, 100}, {4, 6, 100, 110}}},
    {"the last bucket has at least one entry",
     {0, 40, 60, 90, 100, 105},
     110,
     1000,
     1,
     {{0, 5, 0, 105}, {5, 6, 105, 110}}},
    {"a bucket closes before it would be too large",
     {0, 40, 60, 90, 100, 105},
     110,
     60,
     10,
     {{0, 2, 0, 60}, {2, 4, 60, 100}, {4, 6, 100, 110}}},
    {"a larger entry is a bucket of its own",
     {0, 40, 60, 90, 100, 105},
     110,
     25,
     20,
     {{0, 1, 0, 40}, {1, 2, 40, 60}, {2, 3, 60, 90}, {3, 6, 90, 110}}},
};

TEST(BucketPlan, EqualsTheTable) {
  for (const Case& test : cases) {
    EXPECT_EQ(
        plan_buckets(test.offsets, test.size, test.bucket_elements, test.last_bucket_elements),
        test.expected)
        << test.name;
  }
}

TEST(BucketPlan, NeedsAnEntry) {
  EXPECT_THROW(plan_buckets({}, 0, 1, 1), Error);
}

}  // namespace
}  // namespace lockstep
