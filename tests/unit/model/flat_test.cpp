#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/model/flat_buffers.hpp"
#include "lockstep/model/flat_parameters.hpp"

namespace lockstep {
namespace {

NamedTensor parameter(const std::string& name, at::Tensor tensor) {
  return {name, tensor.set_requires_grad(true)};
}

TEST(FlatLayout, StartsEachTensorAtAMultipleOfSixteen) {
  const std::vector<NamedTensor> tensors{
      {"a", at::zeros({3})}, {"b", at::zeros({4, 4})}, {"c", at::zeros({17})}};
  const FlatLayout layout(tensors);
  EXPECT_EQ(layout.entries()[0].offset, 0);
  EXPECT_EQ(layout.entries()[1].offset, 16);
  EXPECT_EQ(layout.entries()[2].offset, 32);
  EXPECT_EQ(layout.entries()[1].count, 16);
  EXPECT_EQ(layout.size(), 64);
}

TEST(FlatLayout, GivesEachEntryItsPartInItsShape) {
  const std::vector<NamedTensor> tensors{{"a", at::zeros({3})}, {"b", at::zeros({2, 2})}};
  const FlatLayout layout(tensors);
  // A state tensor may itself be a part of something larger.
  const at::Tensor flat = at::arange(-16, 32).narrow(0, 16, 32);
  const std::vector<NamedTensor> views = layout.views(flat);
  EXPECT_EQ(views[1].name, "b");
  EXPECT_TRUE(views[0].tensor.equal(at::tensor({0, 1, 2}, at::kLong)));
  EXPECT_TRUE(views[1].tensor.equal(at::tensor({16, 17, 18, 19}, at::kLong).reshape({2, 2})));
}

TEST(FlatLayout, RefusesTensorsWithGaps) {
  const std::vector<NamedTensor> tensors{{"a", at::zeros({4, 4}).narrow(1, 0, 2)}};
  EXPECT_THROW(FlatLayout{tensors}, Error);
}

TEST(FlatParameters, KeepsValuesAndRefersToThemInReverseOrder) {
  const at::Tensor a = at::tensor({1.0F, 2.0F}).set_requires_grad(true);
  const at::Tensor b = at::tensor({3.0F}).set_requires_grad(true);
  FlatParameters flat({{"a", a}, {"b", b}});
  EXPECT_EQ(flat.layout().entries()[0].name, "b");
  EXPECT_EQ(flat.values()[0].item<float>(), 3.0F);
  EXPECT_EQ(flat.values()[17].item<float>(), 2.0F);
  flat.values()[17] = 5.0F;
  EXPECT_EQ(a[1].item<float>(), 5.0F);
  EXPECT_TRUE(a.requires_grad());
}

TEST(FlatParameters, GathersGradientsOfSeveralBackwardPassesInPlace) {
  const at::Tensor a = at::tensor({1.0F, 2.0F}).set_requires_grad(true);
  const at::Tensor b = at::tensor({3.0F}).set_requires_grad(true);
  FlatParameters flat({{"a", a}, {"b", b}});
  for (int pass = 0; pass < 2; ++pass) (a * b).sum().backward();
  // d/da = b, d/db = a0 + a1, twice.
  EXPECT_EQ(flat.gradients()[0].item<float>(), 6.0F);
  EXPECT_EQ(flat.gradients()[16].item<float>(), 6.0F);
  EXPECT_EQ(flat.gradients()[17].item<float>(), 6.0F);
  flat.zero_gradients();
  (a * b).sum().backward();
  EXPECT_EQ(a.grad()[0].item<float>(), 3.0F);
  EXPECT_EQ(flat.gradients()[16].item<float>(), 3.0F);
}

TEST(FlatParameters, KeepsChannelsLastStrides) {
  const at::Tensor weight =
      at::arange(16, at::kFloat).reshape({2, 2, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor before = weight.clone();
  FlatParameters flat({parameter("w", weight)});
  EXPECT_EQ(weight.strides().vec(), before.strides().vec());
  EXPECT_EQ(weight.grad().strides().vec(), before.strides().vec());
  EXPECT_TRUE(weight.detach().equal(before));
}

TEST(FlatParameters, KeepsATailRightBehindTheGradients) {
  FlatParameters flat({parameter("a", at::zeros({3}))}, 5);
  EXPECT_EQ(flat.gradients().numel(), 16);
  EXPECT_EQ(flat.tail().numel(), 5);
  EXPECT_EQ(flat.tail().const_data_ptr<float>(), flat.gradients().const_data_ptr<float>() + 16);
}

TEST(FlatParameters, RefusesWhatCannotBeOneBuffer) {
  EXPECT_THROW(FlatParameters({}), Error);
  EXPECT_THROW(
      FlatParameters({parameter("a", at::zeros({1})), parameter("b", at::zeros({1}, at::kDouble))}),
      Error);
  EXPECT_THROW(FlatParameters({{"a", at::zeros({1})}}), Error);
}

TEST(FlatBuffers, SortsBuffersByWhatTheyAre) {
  const at::Tensor mean = at::full({2}, 7.0F);
  const at::Tensor batches = at::ones({}, at::kLong);
  const at::Tensor positions = at::arange(3);
  FlatBuffers flat(
      {{"n.running_mean", mean}, {"n.num_batches_tracked", batches}, {"positions", positions}});
  EXPECT_EQ(flat.values().numel(), 16);
  flat.values()[1] = 9.0F;
  EXPECT_EQ(mean[0].item<float>(), 7.0F);
  EXPECT_EQ(mean[1].item<float>(), 9.0F);
  ASSERT_EQ(flat.counters().size(), 1U);
  EXPECT_TRUE(flat.counters()[0].is_same(batches));
  ASSERT_EQ(flat.constants().size(), 1U);
  EXPECT_TRUE(flat.constants()[0].is_same(positions));
}

TEST(FlatBuffers, MayBeEmpty) {
  EXPECT_EQ(FlatBuffers({}).values().numel(), 0);
}

TEST(FlatParameters, RefuseAFrozenParameterByName) {
  try {
    const FlatParameters parameters({parameter("fc.weight", at::zeros({2})),
                                     {"fc.bias", at::zeros({2}).set_requires_grad(false)}});
    FAIL() << "a frozen parameter became part of what the optimizer moves";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("fc.bias"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lockstep
