#include "lockstep/optim/schedule.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

CosineScheduleBuilder cosine(const std::string& lr_min, const std::string& update) {
  CosineScheduleBuilder builder;
  FieldTable fields = builder.fields();
  EXPECT_FALSE(fields.at(0).assign("0.1"));
  EXPECT_FALSE(fields.at(1).assign(lr_min));
  EXPECT_FALSE(fields.at(2).assign(update));
  return builder;
}

// o = torch.optim.SGD([p], lr=0.1); s = CosineAnnealingLR(o, T_max=10, eta_min=0.001)
// s.get_last_lr() before and after each of ten times s.step()
const std::vector<double> pytorch_cosine_of_10{
    0.1,    0.0975772975566101, 0.0905463412215599, 0.0795953699884774, 0.0657963412215599,
    0.0505, 0.0352036587784401, 0.0214046300115226, 0.0104536587784401, 0.0034227024433899,
    0.001};

TEST(CosineSchedule, EqualsPyTorchsByStep) {
  const auto schedule = cosine("0.001", "step").build();
  for (std::int64_t step = 0; step <= 10; ++step) {
    const Progress progress{step * 64, 640, 0, 1};
    EXPECT_NEAR(schedule->learning_rate(progress),
                pytorch_cosine_of_10[static_cast<std::size_t>(step)], 1e-15);
  }
}

TEST(CosineSchedule, EqualsPyTorchsByEpochAndHoldsWithinOne) {
  const auto schedule = cosine("0.001", "epoch").build();
  for (std::int64_t epoch = 0; epoch <= 10; ++epoch) {
    for (const std::int64_t sample : {0, 17, 99}) {
      const Progress progress{epoch * 100 + sample, 1000, epoch, 10};
      EXPECT_NEAR(schedule->learning_rate(progress),
                  pytorch_cosine_of_10[static_cast<std::size_t>(epoch)], 1e-15);
    }
  }
}

TEST(CosineSchedule, StaysAtItsEndBeyondTheHorizon) {
  EXPECT_DOUBLE_EQ(cosine("0.001", "step").build()->learning_rate({2000, 1000, 0, 1}), 0.001);
  EXPECT_DOUBLE_EQ(cosine("0.001", "epoch").build()->learning_rate({0, 1000, 7, 3}), 0.001);
}

TEST(CosineSchedule, TakesAnEmptyHorizonAsItsEnd) {
  EXPECT_DOUBLE_EQ(cosine("0.001", "step").build()->learning_rate({0, 0, 0, 0}), 0.001);
}

TEST(CosineSchedule, RefusesAnEndAboveItsStart) {
  EXPECT_THROW(cosine("0.2", "step").build(), UsageError);
}

TEST(ConstantSchedule, IsConstant) {
  ConstantScheduleBuilder builder;
  EXPECT_FALSE(builder.fields().at(0).assign("0.25"));
  const auto schedule = builder.build();
  EXPECT_EQ(schedule->learning_rate({0, 10, 0, 1}), 0.25);
  EXPECT_EQ(schedule->learning_rate({20, 10, 3, 1}), 0.25);
}

}  // namespace
}  // namespace lockstep
