#include "lockstep/optim/weight_average.hpp"

#include <vector>

#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

const std::vector<std::vector<double>> weights_of_steps{
    {1.0, 2.0, -3.0}, {0.5, 2.5, -1.0}, {0.25, -4.0, 8.0}, {3.0, 1.0, 0.125}};

// By hand, with decay 0.9: the first weights, then 0.9 times the last plus 0.1 times the new.
const std::vector<std::vector<double>> averages{
    {1.0, 2.0, -3.0}, {0.95, 2.05, -2.8}, {0.88, 1.445, -1.72}, {1.092, 1.4005, -1.5355}};

TEST(WeightAverage, IsExponentialFromTheFirstStepsWeights) {
  const at::Tensor weights = at::zeros({3}, at::kDouble);
  WeightAverage average(weights, 0.9);
  for (std::size_t i = 0; i < weights_of_steps.size(); ++i) {
    weights.copy_(at::tensor(weights_of_steps[i], at::kDouble));
    average.update(at::scalar_tensor(static_cast<std::int64_t>(i) + 1, at::kLong));
    EXPECT_TRUE(at::allclose(average.values(), at::tensor(averages[i], at::kDouble), 1e-14, 1e-14));
  }
}

TEST(WeightAverage, KeepsOutOfAStepThatTheDeviceCallsBad) {
  const at::Tensor weights = at::tensor({1.0, 2.0}, at::kFloat);
  WeightAverage average(weights, 0.9);
  const at::Tensor steps = at::scalar_tensor(3, at::kLong);
  weights.fill_(5.0);
  average.update(steps, at::ones({}));
  EXPECT_TRUE(average.values().equal(at::tensor({1.0, 2.0}, at::kFloat)));
  average.update(steps, at::zeros({}));
  EXPECT_TRUE(at::allclose(average.values(), at::tensor({1.4, 2.3}, at::kFloat)));
}

TEST(WeightAverage, ExchangedTwiceIsAsItWas) {
  const at::Tensor weights = at::tensor({0.1, 0.2}, at::kFloat);
  WeightAverage average(weights, 0.9);
  weights.mul_(3.0);
  const at::Tensor weights_before = weights.clone();
  const at::Tensor average_before = average.values().clone();
  average.exchange();
  EXPECT_TRUE(weights.equal(average_before));
  EXPECT_TRUE(average.values().equal(weights_before));
  average.exchange();
  EXPECT_TRUE(weights.equal(weights_before));
  EXPECT_TRUE(average.values().equal(average_before));
}

}  // namespace
}  // namespace lockstep
