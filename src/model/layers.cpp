#include "model/layers.hpp"

#include <cmath>
#include <optional>

#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include "model/winograd.hpp"

namespace lockstep {
namespace {

// Uniform in +-1/sqrt(fan_in), computed in the steps of torch.nn.init.kaiming_uniform_(a=sqrt(5)),
// the default of torch.nn's layers, so that the bound is the same to the bit.
at::Tensor kaiming_uniform(at::IntArrayRef sizes, std::int64_t fan_in, at::Generator& generator) {
  const double gain = std::sqrt(2.0 / (1.0 + std::pow(std::sqrt(5.0), 2)));
  const double deviation = gain / std::sqrt(static_cast<double>(fan_in));
  const double bound = std::sqrt(3.0) * deviation;
  return at::empty(sizes).uniform_(-bound, bound, generator);
}

// The backward pass of a strided 1x1 convolution of fewer channels than a vector register holds
// floats writes beyond its memory in oneDNN, as of LibTorch 2.11, where channels lie last. Such
// ones are given only the pixels that they look at: the same sums. So are those of any number of
// channels that is no multiple of it, since how far oneDNN writes there is not known.
constexpr std::int64_t full_vector = 16;

// With fewer channels, transforms take longer than the multiplications they save.
constexpr std::int64_t channels_for_winograd = 32;

bool winograd_pays(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel,
                   std::int64_t stride) {
  return kernel == 3 && stride == 1 && in_channels >= channels_for_winograd &&
         out_channels >= channels_for_winograd;
}

}  // namespace

Conv2d::Conv2d(NetworkBuild& build, const std::string& name, std::int64_t in_channels,
               std::int64_t out_channels, std::int64_t kernel, std::int64_t stride)
    : weight_(build.tensors.add_parameter(
          name + ".weight", kaiming_uniform({out_channels, in_channels, kernel, kernel},
                                            in_channels * kernel * kernel, build.generator))),
      stride_(stride),
      padding_(kernel / 2),
      skips_beforehand_(kernel == 1 && stride > 1 && in_channels % full_vector != 0),
      winograd_(winograd_pays(in_channels, out_channels, kernel, stride) ? build.winograd
                                                                         : nullptr) {}

at::Tensor Conv2d::forward(const at::Tensor& x) const {
  if (winograd_ && takes_winograd(*winograd_, x, weight_))
    return winograd_conv2d(winograd_, x, weight_);
  if (skips_beforehand_) {
    const at::Tensor kept = x.slice(2, 0, std::nullopt, stride_).slice(3, 0, std::nullopt, stride_);
    return at::conv2d(kept, weight_);
  }
  return at::conv2d(x, weight_, {}, stride_, padding_);
}

Linear::Linear(NetworkBuild& build, const std::string& name, std::int64_t in_features,
               std::int64_t out_features)
    : weight_(build.tensors.add_parameter(
          name + ".weight",
          kaiming_uniform({out_features, in_features}, in_features, build.generator))) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(in_features));
  bias_ = build.tensors.add_parameter(
      name + ".bias", at::empty({out_features}).uniform_(-bound, bound, build.generator));
}

at::Tensor Linear::forward(const at::Tensor& x) const {
  return at::linear(x, weight_, bias_);
}

}  // namespace lockstep
