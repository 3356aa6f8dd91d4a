#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "lockstep/model/named_tensor.hpp"

namespace lockstep {

struct WinogradConvs;

/// Where a network's tensors go and its initial values come from while it is built. Layers must be
/// built in PyTorch's order, since each draws from the generator.
struct NetworkBuild {
  NetworkTensors& tensors;
  at::Generator& generator;
  std::shared_ptr<WinogradConvs> winograd;  ///< for the convolutions it fits; null: for none
};

/// A square convolution without bias, padded so that stride 1 keeps the size, as torch.nn.Conv2d.
class Conv2d {
 public:
  Conv2d(NetworkBuild& build, const std::string& name, std::int64_t in_channels,
         std::int64_t out_channels, std::int64_t kernel, std::int64_t stride);

  /// [n, in_channels, h, w] to [n, out_channels, ceil(h / stride), ceil(w / stride)].
  at::Tensor forward(const at::Tensor& x) const;

 private:
  at::Tensor weight_;
  std::int64_t stride_;
  std::int64_t padding_;
  bool skips_beforehand_;
  std::shared_ptr<WinogradConvs> winograd_;
};

/// x W^T + b as torch.nn.Linear.
class Linear {
 public:
  Linear(NetworkBuild& build, const std::string& name, std::int64_t in_features,
         std::int64_t out_features);

  /// [n, in_features] to [n, out_features].
  at::Tensor forward(const at::Tensor& x) const;

 private:
  at::Tensor weight_;
  at::Tensor bias_;
};

}  // namespace lockstep
