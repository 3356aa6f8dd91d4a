#include "lockstep/optim/adamw.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "support/fields.hpp"

namespace lockstep {
namespace {

AdamWBuilder builder(const char* weight_decay, const char* decay_norm_and_bias = "true") {
  return test::built_with<AdamWBuilder>({{"beta1", "0.8"},
                                         {"beta2", "0.95"},
                                         {"eps", "1e-6"},
                                         {"weight_decay", weight_decay},
                                         {"decay_norm_and_bias", decay_norm_and_bias}});
}

struct Trial {
  at::Tensor values;
  at::Tensor gradients;
  std::unique_ptr<Optimizer> optimizer;

  // The first two elements are weights, the last two a norm's.
  Trial(const AdamWBuilder& adamw, at::ScalarType type)
      : values(at::tensor({0.5, -1.25, 2.0, 0.75}, at::kDouble).to(type)),
        gradients(at::zeros({4}, type)),
        optimizer(adamw.build(values, gradients, std::vector<ElementRange>{{0, 2}})) {}

  void steps(int first, int end) {
    for (int k = first; k < end; ++k) {
      const std::vector<double> now{std::sin(1.0 + k), std::cos(2.0 * k), std::sin(3.0 * k) * 0.1,
                                    1e-3 * (k - 5)};
      gradients.copy_(at::tensor(now, at::kDouble));
      optimizer->step(0.01 * (k + 1));
    }
  }
};

void expect_near(const at::Tensor& tensor, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(tensor.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(tensor[static_cast<std::int64_t>(i)].item<double>(), expected[i],
                tolerance * std::max(1.0, std::abs(expected[i])));
  }
}

// By PyTorch, with gradients and rates as in Trial::steps(0, 12):
//   o = torch.optim.AdamW([{"params": [a], "weight_decay": wd}, {"params": [b], "weight_decay":
//     0.0 if decay_norm_and_bias is off else wd}], betas=(0.8, 0.95), eps=1e-6, fused=False)
const std::vector<double> decayed{0.4223705229402885, -1.185845498069008, 1.8265470887593966,
                                  0.6744774464410027};
const std::vector<double> exp_avg{-0.213134444638315, -0.10891768851874865, 0.011185107630763915,
                                  0.0026871947673599993};
const std::vector<double> exp_avg_sq{0.23858636311994832, 0.2494938799172548, 0.002574033934357453,
                                     5.938111899049856e-06};

TEST(AdamW, EqualsPyTorchOverTwelveSteps) {
  for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-14}, {at::kFloat, 1e-6}}) {
    Trial trial(builder("0.1"), type);
    trial.steps(0, 12);
    expect_near(trial.values, decayed, tolerance);
    const auto state = trial.optimizer->state();
    ASSERT_EQ(state.size(), 2U);
    EXPECT_EQ(state[0].kind, "exp_avg");
    EXPECT_EQ(state[1].kind, "exp_avg_sq");
    expect_near(state[0].flat, exp_avg, tolerance);
    expect_near(state[1].flat, exp_avg_sq, tolerance);
    EXPECT_EQ(trial.optimizer->applied_steps(), 12);
  }
}

TEST(AdamW, EqualsPyTorchWithoutDecay) {
  Trial trial(builder("0"), at::kDouble);
  trial.steps(0, 12);
  expect_near(trial.values,
              {0.45523401457523927, -1.2822993435844805, 1.9763310809015542, 0.7417970607264489},
              1e-14);
}

TEST(AdamW, LeavesNormsAndBiasesOutOfDecay) {
  Trial trial(builder("0.1", "false"), at::kDouble);
  trial.steps(0, 12);
  expect_near(trial.values, {decayed[0], decayed[1], 1.9763310809015542, 0.7417970607264489},
              1e-14);
  expect_near(trial.optimizer->state()[1].flat, exp_avg_sq, 1e-14);
}

TEST(AdamW, GoesOnFromRestoredStateToTheBit) {
  Trial straight(builder("0.1"), at::kFloat);
  straight.steps(0, 12);
  Trial first(builder("0.1"), at::kFloat);
  first.steps(0, 5);
  Trial resumed(builder("0.1"), at::kFloat);
  resumed.values.copy_(first.values);
  for (std::size_t i = 0; i < 2; ++i) {
    resumed.optimizer->state()[i].flat.copy_(first.optimizer->state()[i].flat);
  }
  resumed.optimizer->restore_applied_steps(first.optimizer->applied_steps());
  resumed.steps(5, 12);
  EXPECT_TRUE(resumed.values.equal(straight.values));
}

// The bias correction counts applied steps alone.
TEST(AdamW, GoesOnAfterABadStepAsIfItHadNotBeen) {
  Trial straight(builder("0.1"), at::kFloat);
  straight.steps(0, 12);
  Trial trial(builder("0.1"), at::kFloat);
  trial.steps(0, 5);
  trial.gradients.fill_(std::numeric_limits<double>::quiet_NaN());
  trial.optimizer->step(0.1, at::ones({}));
  trial.steps(5, 12);
  EXPECT_TRUE(trial.values.equal(straight.values));
  EXPECT_EQ(trial.optimizer->applied_steps(), 12);
}

TEST(AdamW, LeavesGradientsAndPaddingAsTheyAre) {
  const at::Tensor values = at::tensor({1.0, 0.0}, at::kDouble);
  const at::Tensor gradients = at::tensor({0.25, 0.0}, at::kDouble);
  const auto optimizer = builder("0.1").build(values, gradients, {});
  optimizer->step(0.1);
  optimizer->step(0.1);
  expect_near(gradients, {0.25, 0.0}, 0.0);
  EXPECT_EQ(values[1].item<double>(), 0.0);
}

TEST(AdamWBuilder, RefusesAnEpsilonOfZero) {
  AdamWBuilder adamw;
  EXPECT_TRUE(adamw.fields().at(2).assign("0"));
}

}  // namespace
}  // namespace lockstep
