#include "lockstep/optim/gradient_norm.hpp"

#include <cmath>
#include <limits>

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

double norm(const at::Tensor& flat) {
  const at::Tensor norm = l2_norm(flat);
  EXPECT_EQ(norm.scalar_type(), at::kDouble);
  return norm.item<double>();
}

double factor(double norm, double max_norm) {
  return clip_factor(at::scalar_tensor(norm, at::kDouble), max_norm).item<double>();
}

TEST(GradientNorm, IsTheRootOfTheSumOfSquares) {
  EXPECT_EQ(norm(at::tensor({3.0, -4.0, 12.0}, at::kDouble)), 13.0);
  EXPECT_EQ(norm(at::tensor({3.0, -4.0, 12.0}, at::kFloat)), 13.0);
  EXPECT_EQ(norm(at::zeros({0}, at::kFloat)), 0.0);
  // 1^2 + ... + n^2 = n (n + 1) (2 n + 1) / 6, over several chunks and not a multiple of the lanes.
  const double n = 100003.0;
  EXPECT_NEAR(norm(at::arange(1.0, n + 1.0, at::kDouble)),
              std::sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 6.0), 1e-4);
}

TEST(GradientNorm, HoldsWhereSquaresLeaveFloat32) {
  EXPECT_NEAR(norm(at::full({4}, 1e30F, at::kFloat)) / 2e30, 1.0, 1e-6);
  EXPECT_NEAR(norm(at::full({4}, 1e-30F, at::kFloat)) / 2e-30, 1.0, 1e-6);
}

TEST(GradientNorm, ShowsNanAndInfinityWhereverTheyAre) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::int64_t place : {0, 7, 32768, 70000, 70002}) {
      for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
        const at::Tensor flat = at::zeros({70003}, type);
        flat[place] = bad;
        EXPECT_FALSE(std::isfinite(norm(flat))) << place;
      }
    }
  }
}

TEST(GradientNorm, DoesNotDependOnTheNumberOfThreads) {
  const at::Tensor flat = at::arange(300000, at::kFloat).sin();
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const double one = norm(flat);
  at::set_num_threads(3);
  EXPECT_EQ(norm(flat), one);
  at::set_num_threads(threads);
}

TEST(GradientNorm, RefusesOtherDtypes) {
  EXPECT_THROW(l2_norm(at::zeros({3}, at::kInt)), Error);
}

TEST(ClipFactor, IsPyTorchs) {
  // p.grad = (3, 4, 12); torch.nn.utils.clip_grad_norm_([p], 2.0); p.grad / (3, 4, 12)
  EXPECT_NEAR(factor(13.0, 2.0), 0.46153842603550577 / 3.0, 1e-16);
  EXPECT_EQ(factor(13.0, 20.0), 1.0);
}

}  // namespace
}  // namespace lockstep
