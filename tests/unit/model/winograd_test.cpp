#include "model/winograd.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "lockstep/model/autocast.hpp"
#include "lockstep/model/mini_resnet.hpp"

#include "unit/kernels/portable_kernels.hpp"

namespace lockstep {
namespace {

/// In the Euclidean norm.
double relative_error(const at::Tensor& value, const at::Tensor& expected) {
  const at::Tensor reference = expected.detach().to(at::kDouble);
  const double error = value.detach().to(at::kDouble).sub(reference).norm().item<double>();
  return error / reference.norm().item<double>();
}

class WinogradLayer : public testing::Test {
 protected:
  void SetUp() override {
    if (!conv_->float32) GTEST_SKIP() << "this processor has no kernels";
  }

  std::shared_ptr<WinogradConvs> conv_ = make_winograd();
};

// LibTorch's own in float64 is the reference, whatever the layout of what comes in.
TEST_F(WinogradLayer, ComputesLibTorchsConvolutionAndGradients) {
  for (const at::MemoryFormat format :
       {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const at::Tensor x = at::randn({3, 40, 7, 10}).contiguous(format).set_requires_grad(true);
    const at::Tensor weight = at::randn({36, 40, 3, 3}).contiguous(format).set_requires_grad(true);
    const at::Tensor dy = at::randn({3, 36, 7, 10}).contiguous(format);
    const at::Tensor x64 = x.detach().to(at::kDouble).set_requires_grad(true);
    const at::Tensor weight64 = weight.detach().to(at::kDouble).set_requires_grad(true);
    const at::Tensor y = winograd_conv2d(conv_, x, weight);
    const at::Tensor y64 = at::conv2d(x64, weight64, {}, 1, 1);
    y.backward(dy);
    y64.backward(dy.to(at::kDouble));
    EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_LT(relative_error(y, y64), 2e-6);
    EXPECT_LT(relative_error(x.grad(), x64.grad()), 2e-6);
    EXPECT_LT(relative_error(weight.grad(), weight64.grad()), 2e-6);
  }
}

TEST_F(WinogradLayer, AddsToGradientsThatAreThere) {
  const at::Tensor x = at::randn({2, 8, 5, 5});
  const at::Tensor weight = at::randn({8, 8, 3, 3}).set_requires_grad(true);
  winograd_conv2d(conv_, x, weight).sum().backward();
  const at::Tensor once = weight.grad().clone();
  winograd_conv2d(conv_, x, weight).sum().backward();
  EXPECT_TRUE(weight.grad().equal(once.mul(2)));
}

TEST_F(WinogradLayer, RecordsNothingWithoutGradients) {
  const at::Tensor weight = at::randn({8, 8, 3, 3}).set_requires_grad(true);
  const at::NoGradGuard no_gradients;
  EXPECT_FALSE(winograd_conv2d(conv_, at::randn({1, 8, 4, 4}), weight).requires_grad());
}

TEST_F(WinogradLayer, RefusesToDifferentiateGradients) {
  const at::Tensor weight = at::randn({8, 8, 3, 3}).set_requires_grad(true);
  const at::Tensor y = winograd_conv2d(conv_, at::randn({1, 8, 4, 4}), weight);
  EXPECT_ANY_THROW(y.sum().backward({}, std::nullopt, /*create_graph=*/true));
}

TEST_F(WinogradLayer, LeavesOtherTypesToLibTorch) {
  const at::Tensor x = at::ones({1, 1, 1, 1});
  EXPECT_TRUE(takes_winograd(*conv_, x, x));
  EXPECT_FALSE(takes_winograd(*conv_, x.to(at::kDouble), x.to(at::kDouble)));
  {
    const AutocastScope autocast(true, DType::float16);
    EXPECT_FALSE(takes_winograd(*conv_, x, x));
  }
  const AutocastScope autocast(true, DType::bfloat16);
  EXPECT_EQ(takes_winograd(*conv_, x, x), conv_->bfloat16 != nullptr);
}

// As LibTorch's: bfloat16 activations, the gradient of the input as it came, of the weight float32.
void expect_libtorchs_in_bfloat16(const std::shared_ptr<WinogradConvs>& convs, double tolerance) {
  const at::Tensor x = at::randn({2, 36, 6, 5}).set_requires_grad(true);
  const at::Tensor weight = at::randn({34, 36, 3, 3}).set_requires_grad(true);
  const at::Tensor x64 = x.detach().to(at::kDouble).set_requires_grad(true);
  const at::Tensor weight64 = weight.detach().to(at::kDouble).set_requires_grad(true);
  at::Tensor y;
  {
    const AutocastScope autocast(true, DType::bfloat16);
    ASSERT_TRUE(takes_winograd(*convs, x, weight));
    y = winograd_conv2d(convs, x, weight);
  }
  const at::Tensor y64 = at::conv2d(x64, weight64, {}, 1, 1);
  const at::Tensor dy = at::randn({2, 34, 6, 5}).to(at::kBFloat16);
  y.backward(dy);
  y64.backward(dy.to(at::kDouble));
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_EQ(x.grad().scalar_type(), at::kFloat);
  EXPECT_EQ(weight.grad().scalar_type(), at::kFloat);
  EXPECT_LT(relative_error(y, y64), tolerance);
  EXPECT_LT(relative_error(x.grad(), x64.grad()), tolerance);
  EXPECT_LT(relative_error(weight.grad(), weight64.grad()), tolerance);
}

std::shared_ptr<WinogradConvs> in_bfloat16(ConvAlgorithm algorithm,
                                           const kernels::WinogradKernels<BFloat16>& portable) {
  auto convs = make_winograd(algorithm);
  if (!convs->bfloat16) convs->bfloat16 = std::make_unique<WinogradConv<BFloat16>>(portable);
  return convs;
}

TEST_F(WinogradLayer, ComputesInBFloat16UnderAutocast) {
  expect_libtorchs_in_bfloat16(
      in_bfloat16(ConvAlgorithm::winograd, *kernels::portable_bfloat16_kernels()), 1e-2);
  expect_libtorchs_in_bfloat16(
      in_bfloat16(ConvAlgorithm::winograd_fast, *kernels::portable_bfloat16_fast_kernels()), 2e-2);
}

struct Gradients {
  double loss;
  std::vector<NamedTensor> parameters;
};

Gradients gradients_of(DType dtype, ConvAlgorithm algorithm, const at::Tensor& images,
                       const at::Tensor& labels, std::unique_ptr<Model>& model) {
  model = make_mini_resnet({3, 10, 16}, 32, batch_norm(), 1, algorithm);
  convert(*model, dtype, MemoryFormat::channels_last);
  const at::Tensor input = images.to(dtype == DType::float64 ? at::kDouble : at::kFloat);
  const at::Tensor loss = at::cross_entropy_loss(model->forward(input), labels);
  loss.backward();
  return {loss.item<double>(), model->parameters()};
}

// ReLUs whose input is nearly 0 flip, by whatever algorithm: each is compared with float64.
TEST(MiniResNet, HasGradientsAsTrueByWinogradAsByLibTorch) {
  const at::Tensor images = at::randn({16, 3, 16, 16});
  const at::Tensor labels = at::randint(10, {16}, at::kLong);
  std::unique_ptr<Model> models[3];
  const auto exact = gradients_of(DType::float64, ConvAlgorithm::direct, images, labels, models[0]);
  const auto direct =
      gradients_of(DType::float32, ConvAlgorithm::direct, images, labels, models[1]);
  const auto winograd =
      gradients_of(DType::float32, ConvAlgorithm::winograd, images, labels, models[2]);
  EXPECT_NEAR(winograd.loss, exact.loss, 1e-5);
  for (std::size_t i = 0; i < exact.parameters.size(); ++i) {
    SCOPED_TRACE(exact.parameters[i].name);
    const at::Tensor expected = exact.parameters[i].tensor.grad();
    const double by_direct = relative_error(direct.parameters[i].tensor.grad(), expected);
    const double by_winograd = relative_error(winograd.parameters[i].tensor.grad(), expected);
    EXPECT_LT(by_winograd, 3 * by_direct + 1e-2);
  }
  // It was used at all.
  if (make_winograd()->float32) {
    EXPECT_FALSE(winograd.parameters[0].tensor.grad().equal(direct.parameters[0].tensor.grad()));
  }
}

TEST(MiniResNet, SaysHowItConvolvesAndWhy) {
  const auto text = [](ConvAlgorithm algorithm, DType dtype) {
    return make_mini_resnet({1, 2, 8}, 8, batch_norm(), 1, algorithm)->convolutions(dtype);
  };
  EXPECT_EQ(text(ConvAlgorithm::direct, DType::float32), "LibTorch's");
  const std::string float64 = text(ConvAlgorithm::winograd, DType::float64);
  EXPECT_EQ(float64, "LibTorch's, since there is no Winograd's in float64 for this processor");
  const auto convs = make_winograd();
  EXPECT_EQ(text(ConvAlgorithm::winograd, DType::float32).starts_with("Winograd's F(4x4, 3x3) by"),
            convs->float32 != nullptr);
  EXPECT_EQ(text(ConvAlgorithm::automatic, DType::float32),
            convs->float32 ? text(ConvAlgorithm::winograd, DType::float32) : "LibTorch's");
  for (const DType dtype : {DType::float64, DType::bfloat16}) {
    EXPECT_EQ(text(ConvAlgorithm::automatic, dtype), "LibTorch's") << name_of(dtype);
  }
  EXPECT_EQ(text(ConvAlgorithm::winograd_fast, DType::float32),
            text(ConvAlgorithm::winograd, DType::float32));
  EXPECT_EQ(text(ConvAlgorithm::winograd, DType::bfloat16).starts_with("Winograd's F(2x2, 3x3) by"),
            convs->bfloat16 != nullptr);
  EXPECT_EQ(
      text(ConvAlgorithm::winograd_fast, DType::bfloat16).starts_with("Winograd's F(4x4, 3x3) by"),
      convs->bfloat16 != nullptr);
}

}  // namespace
}  // namespace lockstep
