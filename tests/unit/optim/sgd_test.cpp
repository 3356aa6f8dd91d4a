#include "lockstep/optim/sgd.hpp"

#include <limits>
#include <vector>

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

#include "support/fields.hpp"

namespace lockstep {
namespace {

SgdBuilder builder(const char* momentum, const char* weight_decay, const char* nesterov,
                   const char* decay_norm_and_bias = "true") {
  return test::built_with<SgdBuilder>({{"momentum", momentum},
                                       {"weight_decay", weight_decay},
                                       {"nesterov", nesterov},
                                       {"decay_norm_and_bias", decay_norm_and_bias}});
}

const std::vector<std::vector<double>> gradients_of_steps{
    {0.1, -0.2, 0.3}, {0.4, 0.0, -0.5}, {-0.3, 0.25, 1.5}};
const std::vector<double> rates{0.1, 0.05, 0.2};
const std::vector<ElementRange> weights{{0, 1}, {2, 3}};  // but not the middle element

struct Trial {
  at::Tensor values;
  at::Tensor gradients;
  std::unique_ptr<Optimizer> optimizer;

  Trial(const SgdBuilder& sgd, at::ScalarType type)
      : values(at::tensor({0.5, -1.25, 2.0}, at::kDouble).to(type)),
        gradients(at::zeros({3}, type)),
        optimizer(sgd.build(values, gradients, weights)) {}

  void step(std::size_t index) {
    gradients.copy_(at::tensor(gradients_of_steps[index], at::kDouble));
    optimizer->step(rates[index]);
  }
};

void expect_near(const at::Tensor& tensor, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(tensor.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(tensor[static_cast<std::int64_t>(i)].item<double>(), expected[i], tolerance);
  }
}

// Expected values by PyTorch:
//   p = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64, requires_grad=True)
//   o = torch.optim.SGD([p], lr=1.0, momentum=m, weight_decay=0.01, nesterov=n)
//   for g, lr in zip(gradients_of_steps, rates):
//     o.param_groups[0]["lr"] = lr; p.grad = torch.tensor(g, dtype=torch.float64); o.step()
//   p, o.state[p]["momentum_buffer"]
void expect_pytorchs_steps(const SgdBuilder& sgd, const std::vector<double>& values,
                           const std::vector<double>& momentum) {
  for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-15}, {at::kFloat, 1e-6}}) {
    Trial trial(sgd, type);
    for (std::size_t i = 0; i < rates.size(); ++i) trial.step(i);
    expect_near(trial.values, values, tolerance);
    if (!momentum.empty()) expect_near(trial.optimizer->state().at(0).flat, momentum, tolerance);
  }
}

TEST(Sgd, EqualsPyTorchWithoutMomentum) {
  expect_pytorchs_steps(builder("0", "0.01", "false"),
                        {0.52831673950000002, -1.27567935375, 1.688031968}, {});
}

TEST(Sgd, EqualsPyTorchWithMomentum) {
  expect_pytorchs_steps(builder("0.9", "0.01", "false"),
                        {0.43371008949999995, -1.22949922875, 1.708278368},
                        {0.15410080250000008, 0.054630518749999968, 1.34668816});
}

TEST(Sgd, EqualsPyTorchWithNesterovMomentum) {
  expect_pytorchs_steps(builder("0.9", "0.01", "true"),
                        {0.46879287398049996, -1.25736800924625, 1.4256070445119999},
                        {0.15374386452500005, 0.054989678937499953, 1.3463717775999999});
}

// The middle element in a parameter group of its own with weight_decay=0.0.
TEST(Sgd, LeavesNormsAndBiasesOutOfDecay) {
  expect_pytorchs_steps(builder("0.9", "0.01", "false", "false"),
                        {0.43371008949999995, -1.2386000000000001, 1.708278368},
                        {0.15410080250000008, 0.08799999999999997, 1.34668816});
  expect_pytorchs_steps(builder("0", "0.01", "false", "false"),
                        {0.52831673950000002, -1.28, 1.688031968}, {});
}

TEST(Sgd, HasTheFirstGradientAsItsFirstMomentum) {
  Trial trial(builder("0.9", "0.01", "false"), at::kDouble);
  EXPECT_EQ(trial.optimizer->state().at(0).kind, "momentum");
  trial.step(0);
  // g + weight_decay * w
  expect_near(trial.optimizer->state()[0].flat, {0.105, -0.2125, 0.32}, 1e-15);
}

TEST(Sgd, LeavesTheGradientsAsTheyAre) {
  Trial trial(builder("0.9", "0.01", "true"), at::kDouble);
  trial.step(0);
  expect_near(trial.gradients, {0.1, -0.2, 0.3}, 0.0);
}

TEST(Sgd, GoesOnFromRestoredStateToTheBit) {
  const SgdBuilder sgd = builder("0.9", "0.01", "false");
  Trial straight(sgd, at::kFloat);
  for (std::size_t i = 0; i < rates.size(); ++i) straight.step(i);

  Trial first(sgd, at::kFloat);
  first.step(0);
  Trial resumed(sgd, at::kFloat);
  resumed.values.copy_(first.values);
  resumed.optimizer->state()[0].flat.copy_(first.optimizer->state()[0].flat);
  resumed.optimizer->restore_applied_steps(first.optimizer->applied_steps());
  resumed.step(1);
  resumed.step(2);
  EXPECT_TRUE(resumed.values.equal(straight.values));
  EXPECT_EQ(resumed.optimizer->applied_steps(), 3);
}

TEST(Sgd, UpdatesOnlyTheRangeItWasGiven) {
  const at::Tensor values = at::tensor({1.0, 1.0, 1.0, 1.0}, at::kDouble);
  const at::Tensor gradients = at::tensor({1.0, 1.0, 1.0, 1.0}, at::kDouble);
  const auto optimizer =
      builder("0", "0", "false").build(values.narrow(0, 1, 2), gradients.narrow(0, 1, 2), {});
  optimizer->step(0.5);
  expect_near(values, {1.0, 0.5, 0.5, 1.0}, 0.0);
}

TEST(SgdBuilder, RefusesNesterovWithoutMomentum) {
  EXPECT_THROW(builder("0", "0", "true").build(at::zeros({1}), at::zeros({1}), {}), UsageError);
}

TEST(SgdBuilder, RefusesAMomentumOfOne) {
  SgdBuilder sgd;
  EXPECT_TRUE(sgd.fields().at(0).assign("1"));
}

TEST(Sgd, LeavesOutAStepThatTheDeviceCallsBad) {
  Trial trial(builder("0.9", "0.01", "false"), at::kFloat);
  trial.step(0);
  const at::Tensor values = trial.values.clone();
  const at::Tensor momentum = trial.optimizer->state().at(0).flat.clone();
  trial.gradients.fill_(std::numeric_limits<double>::quiet_NaN());
  trial.optimizer->step(0.1, at::ones({}));
  EXPECT_TRUE(trial.values.equal(values));
  EXPECT_TRUE(trial.optimizer->state().at(0).flat.equal(momentum));
  EXPECT_EQ(trial.optimizer->applied_steps(), 1);
  trial.gradients.fill_(1.0);
  trial.optimizer->step(0.1, at::zeros({}));
  EXPECT_FALSE(trial.values.equal(values));
  EXPECT_EQ(trial.optimizer->applied_steps(), 2);
}

}  // namespace
}  // namespace lockstep
