#include "lockstep/data/sampler.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/data/batch_options.hpp"
#include "lockstep/data/epoch_order.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Ranges = std::vector<SampleRange>;

Ranges windows(std::int64_t size, const BatchPlan& plan, std::int64_t offset = 0) {
  Ranges result;
  while (const auto window = window_at(size, offset, plan)) {
    result.push_back(*window);
    offset = window->end();
  }
  return result;
}

std::vector<std::int64_t> micro_batch_sizes(std::int64_t size, const BatchPlan& plan) {
  std::vector<std::int64_t> sizes;
  for (const SampleRange& window : windows(size, plan)) {
    for (const MicroBatch& part : micro_batches(window, plan)) sizes.push_back(part.range.samples);
  }
  return sizes;
}

/// The ids of an epoch in the order in which the ranks together visit them.
std::vector<std::int64_t> global_order(std::int64_t size, const BatchPlan& plan, int world) {
  const EpochOrder order(42, 0, size);
  std::vector<std::int64_t> ids;
  for (const SampleRange& window : windows(size, plan)) {
    for (const MicroBatch& part : micro_batches(window, plan)) {
      for (int rank = 0; rank < world; ++rank) {
        const SampleRange share = share_of(part.range, rank, world);
        for (std::int64_t i = share.first; i < share.end(); ++i) ids.push_back(order.at(i));
      }
    }
  }
  return ids;
}

std::string refusal(std::int64_t size, const BatchPlan& plan) {
  try {
    check_plan(size, plan);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Windows, CoverTheEpochWithAShortLastOne) {
  EXPECT_EQ(windows(21, {.global_batch = 8}), (Ranges{{0, 8}, {8, 8}, {16, 5}}));
  EXPECT_EQ(windows(16, {.global_batch = 8}), (Ranges{{0, 8}, {8, 8}}));
  EXPECT_EQ(windows(3, {.global_batch = 8}), (Ranges{{0, 3}}));
}

TEST(Windows, LeaveOutTheShortLastOneWithDropLast) {
  EXPECT_EQ(windows(21, {.global_batch = 8, .drop_last = true}), (Ranges{{0, 8}, {8, 8}}));
  EXPECT_EQ(windows(16, {.global_batch = 8, .drop_last = true}), (Ranges{{0, 8}, {8, 8}}));
}

TEST(Windows, StartAtTheOffsetAfterAResume) {
  EXPECT_EQ(windows(21, {.global_batch = 8}, 3), (Ranges{{3, 8}, {11, 8}, {19, 2}}));
  EXPECT_EQ(windows(21, {.global_batch = 8, .drop_last = true}, 3), (Ranges{{3, 8}, {11, 8}}));
  EXPECT_EQ(windows(21, {.global_batch = 8, .drop_last = true}, 14), Ranges{});
  EXPECT_EQ(windows(21, {.global_batch = 8}, 21), Ranges{});
}

TEST(Windows, AreCountedWithTheirSamples) {
  const BatchPlan keep{.global_batch = 8};
  const BatchPlan drop{.global_batch = 8, .drop_last = true};
  EXPECT_EQ(windows_in_epoch(21, keep), 3);
  EXPECT_EQ(samples_in_epoch(21, keep), 21);
  EXPECT_EQ(windows_in_epoch(21, drop), 2);
  EXPECT_EQ(samples_in_epoch(21, drop), 16);
  EXPECT_EQ(windows_in_epoch(21, keep, 14), 1);
  EXPECT_EQ(samples_in_epoch(21, keep, 14), 7);
  EXPECT_EQ(windows_in_epoch(21, drop, 14), 0);
  EXPECT_EQ(samples_in_epoch(21, drop, 14), 0);
  EXPECT_EQ(windows_in_epoch(16, keep), 2);
}

TEST(Windows, RefuseAnOffsetOutsideTheEpoch) {
  EXPECT_THROW(window_at(21, 22, {.global_batch = 8}), Error);
  EXPECT_THROW(window_at(21, -1, {.global_batch = 8}), Error);
}

TEST(MicroBatches, HoldTheCeilingOfAnEvenPart) {
  EXPECT_THAT(micro_batch_sizes(8, {.global_batch = 8, .grad_accum_steps = 3}),
              ElementsAre(3, 3, 2));
  EXPECT_THAT(micro_batch_sizes(8, {.global_batch = 8, .grad_accum_steps = 4}),
              ElementsAre(2, 2, 2, 2));
}

TEST(MicroBatches, AreFewerInAShortWindow) {
  // 10 samples are 5 micro-batches of 2: one window of 4 and one of 1, or one window of 5.
  EXPECT_THAT(micro_batch_sizes(10, {.global_batch = 8, .grad_accum_steps = 4}),
              ElementsAre(2, 2, 2, 2, 2));
  EXPECT_EQ(windows(10, {.global_batch = 8, .grad_accum_steps = 4}), (Ranges{{0, 8}, {8, 2}}));
  EXPECT_THAT(micro_batch_sizes(10, {.global_batch = 16, .grad_accum_steps = 8}),
              ElementsAre(2, 2, 2, 2, 2));
  EXPECT_THAT(micro_batch_sizes(5, {.global_batch = 8, .grad_accum_steps = 3}), ElementsAre(3, 2));
}

TEST(MicroBatches, KnowTheirPlaceInTheWindow) {
  const auto parts = micro_batches({16, 5}, {.global_batch = 8, .grad_accum_steps = 4});
  ASSERT_EQ(parts.size(), 3U);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].window, (SampleRange{16, 5}));
    EXPECT_EQ(parts[i].index, static_cast<std::int64_t>(i));
    EXPECT_EQ(parts[i].last_of_window, i == 2);
  }
  EXPECT_EQ(parts[1].range, (SampleRange{18, 2}));
  EXPECT_EQ(parts[2].range, (SampleRange{20, 1}));
}

TEST(Shares, AreContiguousAndTheLargerOnesOnLowerRanks) {
  EXPECT_EQ(share_of({100, 10}, 0, 3), (SampleRange{100, 4}));
  EXPECT_EQ(share_of({100, 10}, 1, 3), (SampleRange{104, 3}));
  EXPECT_EQ(share_of({100, 10}, 2, 3), (SampleRange{107, 3}));
}

TEST(Shares, AreEmptyWhereThereAreFewerSamplesThanRanks) {
  EXPECT_EQ(share_of({5, 2}, 0, 4).samples, 1);
  EXPECT_EQ(share_of({5, 2}, 1, 4).samples, 1);
  EXPECT_EQ(share_of({5, 2}, 2, 4).samples, 0);
  EXPECT_EQ(share_of({5, 2}, 3, 4).samples, 0);
}

TEST(Shares, RefuseARankThatIsNone) {
  EXPECT_THROW(share_of({0, 2}, 2, 2), Error);
  EXPECT_THROW(share_of({0, 2}, -1, 2), Error);
}

TEST(GlobalOrder, IsTheEpochsOrderAtAnyNumberOfRanks) {
  const EpochOrder order(42, 0, 1797);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 1797; ++i) expected.push_back(order.at(i));
  for (const int world : {1, 2, 3, 7}) {
    for (const std::int64_t accumulation : {1, 3}) {
      EXPECT_EQ(global_order(1797, {.global_batch = 128, .grad_accum_steps = accumulation}, world),
                expected)
          << world << " ranks, accumulation " << accumulation;
    }
  }
}

TEST(CheckPlan, NamesTheNumbersItRefuses) {
  EXPECT_THAT(refusal(100, {.global_batch = 128, .drop_last = true}),
              AllOf(HasSubstr("100"), HasSubstr("128"), HasSubstr("drop_last")));
  EXPECT_THAT(refusal(100, {.global_batch = 0}), HasSubstr("0 samples"));
  EXPECT_THAT(refusal(100, {.global_batch = 4, .grad_accum_steps = 8}),
              AllOf(HasSubstr("4 samples"), HasSubstr("8 steps")));
  EXPECT_THAT(refusal(100, {.global_batch = 4, .grad_accum_steps = 0}), HasSubstr("0 steps"));
  EXPECT_THAT(refusal(0, {.global_batch = 4}), HasSubstr("no samples"));
}

TEST(CheckPlan, AcceptsFewerSamplesThanAGlobalBatchThatNeedNotBeFilled) {
  EXPECT_EQ(refusal(100, {.global_batch = 128}), "accepted");
  EXPECT_EQ(refusal(128, {.global_batch = 128, .drop_last = true}), "accepted");
}

TEST(BatchOptions, GlobalBatchIsTheProductUnlessItIsSet) {
  BatchOptions options;
  const FieldTable table = fields(options);
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(batch_plan(options, 3).global_batch, 192);
  table[0].assign("16");
  table[2].assign("4");
  EXPECT_EQ(batch_plan(options, 3).global_batch, 192);
  EXPECT_EQ(batch_plan(options, 3).grad_accum_steps, 4);
  table[1].assign("100");
  table[3].assign("true");
  EXPECT_EQ(batch_plan(options, 3).global_batch, 100);
  EXPECT_TRUE(batch_plan(options, 3).drop_last);
}

}  // namespace
}  // namespace lockstep
