#include "lockstep/model/autocast.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

at::ScalarType type_of_product(bool enabled) {
  const AutocastScope scope(enabled);
  return at::linear(at::ones({1, 4}), at::ones({4, 4})).scalar_type();
}

TEST(AutocastScope, NarrowsProductsWhereEnabled) {
  EXPECT_EQ(type_of_product(true), at::kBFloat16);
  EXPECT_EQ(type_of_product(false), at::kFloat);
}

TEST(AutocastScope, RestoresTheStateBefore) {
  {
    const AutocastScope outer(true);
    { const AutocastScope inner(false); }
    EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
  }
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

TEST(AutocastScope, GivesAGradientAfterAnEvaluationWithoutOne) {
  const at::Tensor weight = at::ones({4, 4}).set_requires_grad(true);
  {
    const AutocastScope scope(true);
    const at::NoGradGuard no_gradients;
    at::linear(at::ones({1, 4}), weight);
  }
  at::Tensor product;
  {
    const AutocastScope scope(true);
    product = at::linear(at::ones({1, 4}), weight);
  }
  product.sum().backward();
  ASSERT_TRUE(weight.grad().defined());
  EXPECT_EQ(weight.grad().scalar_type(), at::kFloat);
  EXPECT_EQ(weight.grad()[0][0].item<float>(), 1.0F);
}

TEST(AutocastScope, SeesWeightsThatChangedSinceTheLastOne) {
  at::Tensor weight = at::ones({1, 1}).set_requires_grad(true);
  const auto product = [&] {
    const AutocastScope scope(true);
    return at::linear(at::ones({1, 1}), weight).item<float>();
  };
  EXPECT_EQ(product(), 1.0F);
  weight.detach().fill_(2.0F);
  EXPECT_EQ(product(), 2.0F);
}

}  // namespace
}  // namespace lockstep
