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

}  // namespace
}  // namespace lockstep
