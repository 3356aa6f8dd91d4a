#include "lockstep/train/progress.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Progress, HorizonCountsTheSamplesThatAreVisited) {
  // 100 samples in windows of 32: 100 an epoch, or 96 where the last, short window is dropped.
  EXPECT_EQ(horizon_of(3, 100, {.global_batch = 32}).samples, 300);
  EXPECT_EQ(horizon_of(3, 100, {.global_batch = 32, .drop_last = true}).samples, 288);
}

TEST(Progress, RanksSharesOfAWindowAddUpOverMicroBatches) {
  // Micro-batches of 4, 4, 4 and 1 sample on 3 ranks: 2+1+1, 2+1+1, 2+1+1, 1+0+0.
  const BatchPlan plan{.global_batch = 13, .grad_accum_steps = 4};
  const SampleRange window{.first = 26, .samples = 13};
  EXPECT_EQ(rank_samples(window, plan, 0, 3), 7);
  EXPECT_EQ(rank_samples(window, plan, 1, 3), 3);
  EXPECT_EQ(rank_samples(window, plan, 2, 3), 3);
}

TEST(StepSize, KeepsTheGlobalBatchAndWhatARankHoldsAtOnce) {
  const BatchPlan on_four{.global_batch = 256, .grad_accum_steps = 2, .drop_last = true};
  const StepSize size = step_size_of(on_four, 4);
  EXPECT_EQ(size.global_batch, 256);
  EXPECT_EQ(size.largest_share, 32);
  const auto accumulation = [&](int world) {
    // What the settings say on that many ranks, before they are fitted.
    const BatchPlan asked{
        .global_batch = std::int64_t{64} * world, .grad_accum_steps = 2, .drop_last = true};
    const BatchPlan plan = resized(asked, size, world);
    EXPECT_EQ(plan.global_batch, 256);
    EXPECT_TRUE(plan.drop_last);
    return plan.grad_accum_steps;
  };
  EXPECT_EQ(accumulation(1), 8);
  EXPECT_EQ(accumulation(2), 4);
  EXPECT_EQ(accumulation(3), 3);  // micro-batches of 86, shares of 29
  EXPECT_EQ(accumulation(4), 2);
  EXPECT_EQ(accumulation(8), 2);
}

TEST(StepSize, OddSizesFitToo) {
  const BatchPlan plan{.global_batch = 7, .grad_accum_steps = 3};
  const StepSize size = step_size_of(plan, 2);  // micro-batches of 3, shares of 2 and 1
  EXPECT_EQ(size.largest_share, 2);
  EXPECT_EQ(resized(plan, size, 2).grad_accum_steps, 3);
  EXPECT_EQ(resized(plan, size, 1).grad_accum_steps, 4);  // micro-batches of 2
}

}  // namespace
}  // namespace lockstep
