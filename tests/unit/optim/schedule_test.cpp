#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/optim/constant_schedule.hpp"
#include "lockstep/optim/cosine_schedule.hpp"
#include "lockstep/optim/polynomial_schedule.hpp"
#include "lockstep/optim/step_schedule.hpp"

#include "support/fields.hpp"

namespace lockstep {
namespace {

// Expected rates are PyTorch's: with o = torch.optim.SGD([p], lr=0.1) and a scheduler s of o,
// s.get_last_lr() before and after each of ten times s.step().
using Rates = std::vector<double>;

template <typename Builder>
std::unique_ptr<Schedule> schedule(test::Values values) {
  values.emplace_back("lr", "0.1");
  return test::built_with<Builder>(values).build();
}

// Ten steps of 64 samples in one epoch.
void expect_by_step(const Schedule& schedule, const Rates& rates) {
  for (std::int64_t step = 0; step <= 10; ++step) {
    EXPECT_NEAR(schedule.learning_rate({step * 64, 640, 0, 1}),
                rates[static_cast<std::size_t>(step)], 1e-15)
        << step;
  }
}

// Ten epochs of one step each: where a setting counts epochs.
void expect_by_step_of_an_epoch(const Schedule& schedule, const Rates& rates) {
  for (std::int64_t step = 0; step <= 10; ++step) {
    EXPECT_NEAR(schedule.learning_rate({step * 100, 1000, step, 10}),
                rates[static_cast<std::size_t>(step)], 1e-15)
        << step;
  }
}

void expect_by_epoch(const Schedule& schedule, const Rates& rates) {
  for (std::int64_t epoch = 0; epoch <= 10; ++epoch) {
    for (const std::int64_t sample : {0, 17, 99}) {
      EXPECT_NEAR(schedule.learning_rate({epoch * 100 + sample, 1000, epoch, 10}),
                  rates[static_cast<std::size_t>(epoch)], 1e-15)
          << epoch;
    }
  }
}

// CosineAnnealingLR(o, T_max=10, eta_min=0.001)
const Rates cosine{
    0.1,    0.0975772975566101, 0.0905463412215599, 0.0795953699884774, 0.0657963412215599,
    0.0505, 0.0352036587784401, 0.0214046300115226, 0.0104536587784401, 0.0034227024433899,
    0.001};
// PolynomialLR(o, total_iters=10, power=2.0), and power=0.5
const Rates square{0.1, 0.081, 0.064, 0.049, 0.036, 0.025, 0.016, 0.009, 0.004, 0.001, 0.0};
const Rates root{0.1,
                 0.09486832980505139,
                 0.08944271909999159,
                 0.08366600265340755,
                 0.07745966692414834,
                 0.07071067811865475,
                 0.06324555320336758,
                 0.05477225575051661,
                 0.04472135954999579,
                 0.03162277660168379,
                 0.0};
// StepLR(o, step_size=3, gamma=0.5)
const Rates steps{0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125, 0.0125};
// SequentialLR(o, [LinearLR(o, start_factor=0.25, total_iters=4), main], [4]) with main =
// ConstantLR(o, factor=1.0), CosineAnnealingLR(o, T_max=6, eta_min=0.001),
// PolynomialLR(o, total_iters=6, power=2.0), StepLR(o, step_size=3, gamma=0.5)
const Rates warm_constant{0.025, 0.04375, 0.0625, 0.08125, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
const Rates warm_cosine{0.025,   0.04375,
                        0.0625,  0.08125,
                        0.1,     0.09336825748732973,
                        0.07525, 0.0505,
                        0.02575, 0.00763174251267028,
                        0.001};
const Rates warm_square{0.025,
                        0.04375,
                        0.0625,
                        0.08125,
                        0.1,
                        0.06944444444444446,
                        0.04444444444444447,
                        0.025,
                        0.01111111111111112,
                        0.00277777777777778,
                        0.0};
const Rates warm_steps{0.025, 0.04375, 0.0625, 0.08125, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025};

const test::Values by_epoch{{"lr_update", "epoch"}};
const test::Values warm{{"warmup_epochs", "4"}, {"warmup_start", "0.25"}};

test::Values both(test::Values one, const test::Values& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

TEST(CosineSchedule, EqualsPyTorchs) {
  expect_by_step(*schedule<CosineScheduleBuilder>({{"lr_min", "0.001"}}), cosine);
  expect_by_epoch(*schedule<CosineScheduleBuilder>(both({{"lr_min", "0.001"}}, by_epoch)), cosine);
}

TEST(PolynomialSchedule, EqualsPyTorchs) {
  expect_by_step(*schedule<PolynomialScheduleBuilder>({{"lr_power", "2"}}), square);
  expect_by_step(*schedule<PolynomialScheduleBuilder>({{"lr_power", "0.5"}}), root);
  expect_by_epoch(*schedule<PolynomialScheduleBuilder>(both({{"lr_power", "2"}}, by_epoch)),
                  square);
}

TEST(PolynomialSchedule, IsAStraightLineToItsMinimumByDefault) {
  // 0.1 + t * (0.02 - 0.1)
  expect_by_step(*schedule<PolynomialScheduleBuilder>({{"lr_min", "0.02"}}),
                 {0.1, 0.092, 0.084, 0.076, 0.068, 0.06, 0.052, 0.044, 0.036, 0.028, 0.02});
}

TEST(StepSchedule, EqualsPyTorchs) {
  const test::Values values{{"lr_step_size", "3"}, {"lr_gamma", "0.5"}};
  expect_by_step_of_an_epoch(*schedule<StepScheduleBuilder>(values), steps);
  expect_by_epoch(*schedule<StepScheduleBuilder>(both(values, by_epoch)), steps);
}

TEST(StepSchedule, FallsWithinAnEpochAtTheSample) {
  // Every tenth of 90 epochs of 1,281,167 samples, which no sample count is a multiple of.
  const auto tenths = schedule<StepScheduleBuilder>({{"lr_step_size", "0.1"}, {"lr_gamma", "0.5"}});
  const std::int64_t horizon = 90 * std::int64_t{1281167};
  EXPECT_DOUBLE_EQ(tenths->learning_rate({384350, horizon, 0, 90}), 0.025);   // below 384350.1
  EXPECT_DOUBLE_EQ(tenths->learning_rate({384351, horizon, 0, 90}), 0.0125);  // above it
}

TEST(StepSchedule, FallsExactlyAtTheEndOfAnEpoch) {
  const auto thirds = schedule<StepScheduleBuilder>({{"lr_step_size", "1"}, {"lr_gamma", "0.5"}});
  for (const std::int64_t samples : {std::int64_t{1442}, std::int64_t{1281167}}) {
    for (std::int64_t epoch = 1; epoch < 30; ++epoch) {
      EXPECT_DOUBLE_EQ(thirds->learning_rate({epoch * samples, 30 * samples, epoch, 30}),
                       0.1 / static_cast<double>(std::int64_t{1} << epoch));
      EXPECT_DOUBLE_EQ(thirds->learning_rate({epoch * samples - 1, 30 * samples, epoch - 1, 30}),
                       0.2 / static_cast<double>(std::int64_t{1} << epoch));
    }
  }
}

TEST(WarmUp, IsPyTorchsLinearOneBeforeEachSchedule) {
  const test::Values minimum{{"lr_min", "0.001"}};
  const test::Values power{{"lr_power", "2"}};
  const test::Values halves{{"lr_step_size", "3"}, {"lr_gamma", "0.5"}};
  expect_by_step_of_an_epoch(*schedule<ConstantScheduleBuilder>(warm), warm_constant);
  expect_by_step_of_an_epoch(*schedule<CosineScheduleBuilder>(both(minimum, warm)), warm_cosine);
  expect_by_step_of_an_epoch(*schedule<PolynomialScheduleBuilder>(both(power, warm)), warm_square);
  expect_by_step_of_an_epoch(*schedule<StepScheduleBuilder>(both(halves, warm)), warm_steps);
  const test::Values warm_by_epoch = both(warm, by_epoch);
  expect_by_epoch(*schedule<ConstantScheduleBuilder>(warm_by_epoch), warm_constant);
  expect_by_epoch(*schedule<CosineScheduleBuilder>(both(minimum, warm_by_epoch)), warm_cosine);
  expect_by_epoch(*schedule<PolynomialScheduleBuilder>(both(power, warm_by_epoch)), warm_square);
  expect_by_epoch(*schedule<StepScheduleBuilder>(both(halves, warm_by_epoch)), warm_steps);
}

TEST(WarmUp, MayBePartOfAnEpoch) {
  // Four tenths of one epoch of 640 samples.
  expect_by_step(
      *schedule<ConstantScheduleBuilder>({{"warmup_epochs", "0.4"}, {"warmup_start", "0.25"}}),
      warm_constant);
}

TEST(WarmUp, LongerThanTheRunIsAProblem) {
  const auto longer = test::built_with<ConstantScheduleBuilder>({{"warmup_epochs", "3.5"}});
  EXPECT_EQ(longer.problems(4).size(), 0U);
  EXPECT_EQ(longer.problems(3).size(), 1U);
}

TEST(Schedules, StayAtTheirEndBeyondTheHorizon) {
  EXPECT_DOUBLE_EQ(
      schedule<CosineScheduleBuilder>({{"lr_min", "0.001"}})->learning_rate({2000, 1000, 0, 1}),
      0.001);
  EXPECT_DOUBLE_EQ(schedule<CosineScheduleBuilder>(both({{"lr_min", "0.001"}}, by_epoch))
                       ->learning_rate({0, 1000, 7, 3}),
                   0.001);
  EXPECT_DOUBLE_EQ(
      schedule<PolynomialScheduleBuilder>({{"lr_min", "0.001"}})->learning_rate({2000, 1000, 0, 1}),
      0.001);
  EXPECT_DOUBLE_EQ(schedule<StepScheduleBuilder>({{"lr_step_size", "2"}, {"lr_gamma", "0.5"}})
                       ->learning_rate({9000, 1000, 9, 5}),
                   0.025);
}

TEST(Schedules, TakeAnEmptyHorizonAsItsEnd) {
  EXPECT_DOUBLE_EQ(
      schedule<CosineScheduleBuilder>({{"lr_min", "0.001"}})->learning_rate({0, 0, 0, 0}), 0.001);
}

TEST(Schedules, NameEveryProblem) {
  const auto wrong = test::built_with<CosineScheduleBuilder>(
      {{"lr", "0.1"}, {"lr_min", "0.2"}, {"warmup_epochs", "3"}});
  EXPECT_EQ(wrong.problems(2).size(), 2U);
  const auto right = test::built_with<PolynomialScheduleBuilder>({{"lr", "0.1"}});
  EXPECT_EQ(right.problems(2).size(), 0U);
}

TEST(ConstantSchedule, IsConstant) {
  const auto constant = schedule<ConstantScheduleBuilder>({});
  EXPECT_EQ(constant->learning_rate({0, 10, 0, 1}), 0.1);
  EXPECT_EQ(constant->learning_rate({20, 10, 3, 1}), 0.1);
}

}  // namespace
}  // namespace lockstep
