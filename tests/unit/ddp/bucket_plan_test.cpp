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

const std::vector<Case> cases{
    {"one entry", {0}, 100, 10, 10, {{0, 1, 0, 100}}},
    {"all in the last bucket", {0, 8}, 16, 100, 16, {{0, 2, 0, 16}}},
    // Entries of 40, 20, 30, 10, 5 and 5; half of what is left is 55, 35, 25 and 10.
    {"the last bucket takes what fits, the others half of what is left",
     {0, 40, 60, 90, 100, 105},
     110,
     1000,
     10,
     {{0, 1, 0, 40}, {1, 2, 40, 60}, {2, 3, 60, 90}, {3, 4, 90, 100}, {4, 6, 100, 110}}},
    {"the last bucket has at least one entry",
     {0, 40, 60, 90, 100, 105},
     110,
     1000,
     1,
     {{0, 1, 0, 40},
      {1, 2, 40, 60},
      {2, 3, 60, 90},
      {3, 4, 90, 100},
      {4, 5, 100, 105},
      {5, 6, 105, 110}}},
    {"half of what is left counts as the last bucket's size where it is less",
     {0, 8, 18},
     30,
     1000,
     20,
     {{0, 2, 0, 18}, {2, 3, 18, 30}}},
    {"a bucket closes before it would be too large",
     {0, 10, 20, 30, 40},
     100,
     20,
     1,
     {{0, 2, 0, 20}, {2, 4, 20, 40}, {4, 5, 40, 100}}},
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
