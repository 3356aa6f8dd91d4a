#include "lockstep/model/mini_resnet.hpp"

#include <cmath>
#include <stdexcept>

#include <ATen/Context.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

at::Tensor named(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name == name) return tensor.tensor;
  }
  throw std::out_of_range(name);
}

std::vector<double> doubles(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kDouble).contiguous();
  const auto* data = flat.const_data_ptr<double>();
  return {data, data + flat.numel()};
}

void expect_near(const at::Tensor& tensor, const std::vector<double>& expected, double tolerance) {
  const std::vector<double> values = doubles(tensor);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance);
}

TEST(MiniResNet, HasTheParametersItsNameStandsFor) {
  EXPECT_EQ(parameter_count(*MiniResNetBuilder().build({3, 10, 32}, 1)), 2'777'674);
}

struct InitialWeights {
  std::string name;
  std::vector<std::int64_t> sizes;
  double first;
  double last;
  double sum;  // of value * (1 + position % 97)
};

// Printed by tests/parity/initial_weights.py.
const std::vector<InitialWeights> pytorch_weights{
    {"conv1.weight", {64, 3, 3, 3}, 0.147135511, -0.131437644, -210.213676885},
    {"norm1.weight", {64}, 1, 1, 2080},
    {"norm1.bias", {64}, 0, 0, 0},
    {"layer1.0.conv1.weight", {64, 64, 3, 3}, 0.00794530474, -0.0152212186, 63.1521051117},
    {"layer1.0.norm1.weight", {64}, 1, 1, 2080},
    {"layer1.0.norm1.bias", {64}, 0, 0, 0},
    {"layer1.0.conv2.weight", {64, 64, 3, 3}, -0.00681596017, 0.0127443476, 5.54505242976},
    {"layer1.0.norm2.weight", {64}, 1, 1, 2080},
    {"layer1.0.norm2.bias", {64}, 0, 0, 0},
    {"layer1.1.conv1.weight", {64, 64, 3, 3}, 0.0317623727, -0.0298159178, 51.6681957484},
    {"layer1.1.norm1.weight", {64}, 1, 1, 2080},
    {"layer1.1.norm1.bias", {64}, 0, 0, 0},
    {"layer1.1.conv2.weight", {64, 64, 3, 3}, -0.0195011999, -0.02314426, 22.0752947689},
    {"layer1.1.norm2.weight", {64}, 1, 1, 2080},
    {"layer1.1.norm2.bias", {64}, 0, 0, 0},
    {"layer2.0.conv1.weight", {128, 64, 3, 3}, -0.0385282263, -0.0266389959, -225.518099142},
    {"layer2.0.norm1.weight", {128}, 1, 1, 5249},
    {"layer2.0.norm1.bias", {128}, 0, 0, 0},
    {"layer2.0.conv2.weight", {128, 128, 3, 3}, -0.0213642549, 0.00333100604, -684.982776354},
    {"layer2.0.norm2.weight", {128}, 1, 1, 5249},
    {"layer2.0.norm2.bias", {128}, 0, 0, 0},
    {"layer2.0.shortcut.0.weight", {128, 64, 1, 1}, -0.0277506709, 0.0512480736, 61.469508782},
    {"layer2.0.shortcut.1.weight", {128}, 1, 1, 5249},
    {"layer2.0.shortcut.1.bias", {128}, 0, 0, 0},
    {"layer2.1.conv1.weight", {128, 128, 3, 3}, 0.0167724676, -0.000720791868, 53.9995349416},
    {"layer2.1.norm1.weight", {128}, 1, 1, 5249},
    {"layer2.1.norm1.bias", {128}, 0, 0, 0},
    {"layer2.1.conv2.weight", {128, 128, 3, 3}, -0.000532679958, 0.0144697195, -78.8690833907},
    {"layer2.1.norm2.weight", {128}, 1, 1, 5249},
    {"layer2.1.norm2.bias", {128}, 0, 0, 0},
    {"layer3.0.conv1.weight", {256, 128, 3, 3}, 0.0140080499, -0.0138327852, -850.491126474},
    {"layer3.0.norm1.weight", {256}, 1, 1, 11459},
    {"layer3.0.norm1.bias", {256}, 0, 0, 0},
    {"layer3.0.conv2.weight", {256, 256, 3, 3}, -0.0130167138, -0.00271578133, -148.129972239},
    {"layer3.0.norm2.weight", {256}, 1, 1, 11459},
    {"layer3.0.norm2.bias", {256}, 0, 0, 0},
    {"layer3.0.shortcut.0.weight", {256, 128, 1, 1}, 0.0420535132, -0.0460893363, 519.113724014},
    {"layer3.0.shortcut.1.weight", {256}, 1, 1, 11459},
    {"layer3.0.shortcut.1.bias", {256}, 0, 0, 0},
    {"layer3.1.conv1.weight", {256, 256, 3, 3}, 0.00176764536, 0.0118715093, 141.534560349},
    {"layer3.1.norm1.weight", {256}, 1, 1, 11459},
    {"layer3.1.norm1.bias", {256}, 0, 0, 0},
    {"layer3.1.conv2.weight", {256, 256, 3, 3}, -0.0138510764, -0.0175392311, -340.571915484},
    {"layer3.1.norm2.weight", {256}, 1, 1, 11459},
    {"layer3.1.norm2.bias", {256}, 0, 0, 0},
    {"fc.weight", {10, 256}, -0.034772858, -0.0337227285, -28.8389371634},
    {"fc.bias", {10}, -0.0541814119, 0.000403247774, -0.132987312973},
};

TEST(MiniResNet, StartsFromPyTorchsWeightsInPyTorchsOrder) {
  const auto model = MiniResNetBuilder().build({3, 10, 32}, 42);
  const std::vector<NamedTensor> parameters = model->parameters();
  ASSERT_EQ(parameters.size(), pytorch_weights.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const InitialWeights& expected = pytorch_weights[i];
    SCOPED_TRACE(expected.name);
    EXPECT_EQ(parameters[i].name, expected.name);
    EXPECT_EQ(parameters[i].tensor.sizes().vec(), expected.sizes);
    const std::vector<double> values = doubles(parameters[i].tensor);
    double sum = 0.0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      sum += values[k] * static_cast<double>(1 + k % 97);
    }
    // Nine digits tell two floats apart.
    EXPECT_NEAR(values.front(), expected.first, 1e-9);
    EXPECT_NEAR(values.back(), expected.last, 1e-9);
    EXPECT_NEAR(sum, expected.sum, 1e-8);
  }
}

TEST(MiniResNet, DrawsNothingFromTheGlobalGenerator) {
  const at::Tensor before = at::globalContext().defaultGenerator(at::kCPU).get_state();
  MiniResNetBuilder().build({1, 2, 8}, 42);
  EXPECT_TRUE(at::globalContext().defaultGenerator(at::kCPU).get_state().equal(before));
}

// The numbers below are PyTorch's (tests/support/mini_resnet.py):
//   x = torch.sin(torch.arange(3*3*8*8, dtype=torch.float64) * 0.1).reshape(3, 3, 8, 8)
//   t = torch.tensor([1, 0, 3]); torch.manual_seed(7)
//   net = MiniResNet(in_channels=3, num_classes=4, width=8, norm=norm).double()
//   logits = net(x); F.cross_entropy(logits, t, reduction="sum").backward()
//   logits[0]; [p.grad.norm() for p in (net.conv1.weight, net.layer2[0].shortcut[1].weight,
//   net.fc.bias)]; net.eval(); net(x)[0]
struct Reference {
  NormFactory norm;
  std::vector<double> logits;
  std::vector<double> gradient_norms;
  std::vector<double> evaluated_logits;
};

Reference batch_norm_reference() {
  return {batch_norm(),
          {0.541583371844415, -0.0426447697428439, -0.0488977934881761, -0.530112977516824},
          {31.1790777468727, 0.97797640528016, 0.96073985284544},
          {0.0602960092134926, 0.119162180862841, 0.0154052327771267, -0.110754474924847}};
}

Reference group_norm_reference() {
  const std::vector<double> logits{0.0760100264819463, 0.347850165537449, -0.0169490379385738,
                                   -0.687022324546895};
  return {group_norm(), logits, {32.6531200923324, 0.966826110191795, 0.97236483645972}, logits};
}

std::unique_ptr<Model> small_model(const NormFactory& norm, MemoryFormat format) {
  auto model = make_mini_resnet({3, 4, 8}, 8, norm, 7);
  convert(*model, DType::float64, format);
  return model;
}

at::Tensor sine_images(MemoryFormat format) {
  const at::Tensor x = at::arange(3 * 3 * 8 * 8, at::kDouble).mul(0.1).sin().reshape({3, 3, 8, 8});
  return format == MemoryFormat::channels_last ? x.contiguous(at::MemoryFormat::ChannelsLast) : x;
}

void expect_pytorchs_numbers(const Reference& reference, MemoryFormat format) {
  const auto model = small_model(reference.norm, format);
  const at::Tensor images = sine_images(format);
  const at::Tensor logits = model->forward(images);
  expect_near(logits[0], reference.logits, 1e-12);

  at::cross_entropy_loss(logits, at::tensor({1, 0, 3}, at::kLong), {}, at::Reduction::Sum)
      .backward();
  const std::vector<NamedTensor> parameters = model->parameters();
  const char* names[] = {"conv1.weight", "layer2.0.shortcut.1.weight", "fc.bias"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(named(parameters, names[i]).grad().norm().item<double>(),
                reference.gradient_norms[i], 1e-11)
        << names[i];
  }
  model->set_training(false);
  expect_near(model->forward(images)[0], reference.evaluated_logits, 1e-12);
}

TEST(MiniResNet, ComputesPyTorchsLogitsAndGradientsWithBatchNorm) {
  expect_pytorchs_numbers(batch_norm_reference(), MemoryFormat::contiguous);
  expect_pytorchs_numbers(batch_norm_reference(), MemoryFormat::channels_last);
}

TEST(MiniResNet, ComputesPyTorchsLogitsAndGradientsWithGroupNorm) {
  expect_pytorchs_numbers(group_norm_reference(), MemoryFormat::contiguous);
  expect_pytorchs_numbers(group_norm_reference(), MemoryFormat::channels_last);
}

TEST(MiniResNet, MovesItsRunningStatisticsAsPyTorch) {
  const auto model = small_model(batch_norm(), MemoryFormat::contiguous);
  model->forward(sine_images(MemoryFormat::contiguous));
  const std::vector<NamedTensor> buffers = model->buffers();
  ASSERT_EQ(buffers.size(), 45U);
  EXPECT_EQ(buffers[0].name, "norm1.running_mean");
  EXPECT_EQ(buffers[1].name, "norm1.running_var");
  EXPECT_EQ(buffers[2].name, "norm1.num_batches_tracked");
  // net.layer3[1].norm2.running_var[0], net.norm1.running_mean[1] after the forward pass above.
  EXPECT_NEAR(named(buffers, "layer3.1.norm2.running_var")[0].item<double>(), 0.906685049273025,
              1e-13);
  EXPECT_NEAR(buffers[0].tensor[1].item<double>(), -0.00626348657832408, 1e-14);
  EXPECT_EQ(buffers[2].tensor.item<std::int64_t>(), 1);
}

TEST(MiniResNet, KeepsItsRunningStatisticsInEvaluation) {
  const auto model = small_model(batch_norm(), MemoryFormat::contiguous);
  model->set_training(false);
  model->forward(sine_images(MemoryFormat::contiguous));
  EXPECT_TRUE(model->buffers()[0].tensor.equal(at::zeros({8}, at::kDouble)));
  EXPECT_EQ(model->buffers()[2].tensor.item<std::int64_t>(), 0);
}

TEST(BatchNorm, KeepsTheRunningVarianceWhereAChannelHasOneValue) {
  NetworkTensors tensors;
  const auto norm = batch_norm()(tensors, "norm", 2);
  const at::Tensor x = at::full({1, 2, 1, 1}, 3.0F);
  norm->forward(x, true);
  expect_near(named(tensors.buffers(), "norm.running_mean"), {0.3, 0.3}, 1e-7);
  expect_near(named(tensors.buffers(), "norm.running_var"), {1.0, 1.0}, 0.0);
}

TEST(GroupNorm, HasEightGroupsForTwentyFourChannels) {
  NetworkTensors tensors;
  const auto norm = group_norm()(tensors, "norm", 24);
  // With groups of three channels, channels 0, 1, 2 = 1, 2, 3 have mean 2 and variance 2/3.
  const at::Tensor x = at::arange(1, 25, at::kFloat).reshape({1, 24, 1, 1});
  const double one = 1.0 / std::sqrt(2.0 / 3.0 + 1e-5);
  expect_near(norm->forward(x, true).flatten().narrow(0, 0, 3), {-one, 0.0, one}, 1e-6);
}

TEST(MiniResNet, ConvertsToAnElementTypeAndChannelsLast) {
  const auto model = make_mini_resnet({3, 4, 8}, 8, batch_norm(), 7);
  const at::Tensor before = model->parameters()[0].tensor.detach().clone();
  convert(*model, DType::float64, MemoryFormat::channels_last);
  const at::Tensor weight = model->parameters()[0].tensor;
  EXPECT_EQ(weight.scalar_type(), at::kDouble);
  EXPECT_EQ(weight.strides().vec(), (std::vector<std::int64_t>{27, 1, 9, 3}));
  EXPECT_TRUE(weight.detach().to(at::kFloat).equal(before));
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_EQ(model->buffers()[0].tensor.scalar_type(), at::kDouble);
  EXPECT_EQ(model->buffers()[2].tensor.scalar_type(), at::kLong);
}

// LibTorch's own convolutions of few channels, strided and channels last, write beyond their
// memory: this ended the process, at the latest on leaving.
TEST(MiniResNet, TrainsWithFewChannelsLast) {
  for (const std::int64_t width : {1, 2, 3, 4, 5, 6, 7, 9, 12}) {
    const auto model = make_mini_resnet({1, 10, 8}, width, batch_norm(), 1);
    convert(*model, DType::float32, MemoryFormat::channels_last);
    for (int step = 0; step < 20; ++step) {
      const at::Tensor images =
          at::full({32, 1, 8, 8}, 0.5).contiguous(at::MemoryFormat::ChannelsLast);
      const at::Tensor loss =
          at::cross_entropy_loss(model->forward(images), at::zeros({32}, at::kLong));
      loss.backward();
    }
    EXPECT_TRUE(named(model->parameters(), "conv1.weight").grad().defined());
  }
}

TEST(MiniResNetBuilder, BuildsWhatItsFieldsSay) {
  MiniResNetBuilder builder;
  FieldTable fields = builder.fields();
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0].default_text(), "64");
  EXPECT_EQ(fields[1].default_text(), "batch");
  EXPECT_EQ(fields[2].default_text(), "auto");
  EXPECT_FALSE(fields[0].assign("8"));
  EXPECT_FALSE(fields[1].assign("group"));
  EXPECT_TRUE(fields[1].assign("layer"));
  const auto model = builder.build({1, 2, 8}, 1);
  EXPECT_EQ(model->parameters()[0].tensor.sizes().vec(), (std::vector<std::int64_t>{8, 1, 3, 3}));
  EXPECT_TRUE(model->buffers().empty());
  for (const auto& [name, algorithm] : {std::pair{"auto", ConvAlgorithm::automatic},
                                        {"direct", ConvAlgorithm::direct},
                                        {"winograd", ConvAlgorithm::winograd},
                                        {"winograd_fast", ConvAlgorithm::winograd_fast}}) {
    EXPECT_FALSE(fields[2].assign(name));
    for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
      EXPECT_EQ(builder.build({1, 2, 8}, 1)->convolutions(dtype),
                make_mini_resnet({1, 2, 8}, 8, group_norm(), 1, algorithm)->convolutions(dtype))
          << name;
    }
  }
}

}  // namespace
}  // namespace lockstep
