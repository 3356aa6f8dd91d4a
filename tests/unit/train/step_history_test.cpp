#include "lockstep/train/step_history.hpp"

#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/io/metrics_file.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;

/// Log point n (from 1): step 10 n, n samples, losses that sum to 2 n, n seconds.
StepRecord point(std::int64_t n) {
  const auto real = static_cast<double>(n);
  return {.global_step = 10 * n,
          .epoch = n / 4,
          .tally = {.loss_sum = 2.0 * real, .nonfinite = n % 2, .samples = n},
          .learning_rate = 0.5 / real,
          .interval_seconds = real,
          .elapsed_seconds = real * (real + 1) / 2};
}

MetricsTable table_after(std::int64_t points, std::int64_t most_rows) {
  MetricsTable steps = MetricsHistory().step;
  for (std::int64_t n = 1; n <= points; ++n) append_log_point(steps, point(n), most_rows);
  return steps;
}

TEST(StepHistory, KeepsEveryPointWhileThereIsRoom) {
  const MetricsTable steps = table_after(4, 4);
  EXPECT_THAT(steps.integers("global_step"), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(steps.integers("log_points"), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(steps.reals("images_per_second"), ElementsAre(1.0, 1.0, 1.0, 1.0));
}

TEST(StepHistory, MergesNeighboursAndThenTakesTwiceAsManyARow) {
  // The fifth point makes pairs of the first four and stays alone until the sixth.
  const MetricsTable five = table_after(5, 4);
  EXPECT_THAT(five.integers("log_points"), ElementsAre(2, 2, 1));
  EXPECT_THAT(five.integers("samples"), ElementsAre(1 + 2, 3 + 4, 5));
  EXPECT_THAT(five.reals("loss"), ElementsAre(2.0, 2.0, 2.0));
  EXPECT_THAT(five.integers("nonfinite"), ElementsAre(1, 1, 1));
  EXPECT_THAT(five.integers("epoch"), ElementsAre(0, 1, 1));
  EXPECT_THAT(five.reals("lr"), ElementsAre(0.25, 0.125, 0.1));
  EXPECT_THAT(five.reals("interval_seconds"), ElementsAre(3.0, 7.0, 5.0));
  EXPECT_THAT(five.reals("elapsed_seconds"), ElementsAre(3.0, 10.0, 15.0));

  const MetricsTable eleven = table_after(11, 4);
  EXPECT_THAT(eleven.integers("log_points"), ElementsAre(4, 4, 3));
  EXPECT_THAT(eleven.integers("global_step"), ElementsAre(40, 80, 110));
}

TEST(StepHistory, LosesNoSampleAndStaysBounded) {
  const MetricsTable steps = table_after(1000, 16);
  EXPECT_LE(steps.rows(), 16);
  EXPECT_GE(steps.rows(), 8);
  const std::vector<std::int64_t>& samples = steps.integers("samples");
  EXPECT_EQ(std::accumulate(samples.begin(), samples.end(), std::int64_t{0}), 500'500);
  EXPECT_EQ(steps.integers("global_step").back(), 10'000);
}

}  // namespace
}  // namespace lockstep
