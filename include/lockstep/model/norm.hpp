#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "lockstep/model/named_tensor.hpp"

namespace lockstep {

/// A normalisation layer with a learnt scale and shift a channel.
class Norm {
 public:
  virtual ~Norm() = default;

  /// `x` and the result are [n, channels, height, width].
  virtual at::Tensor forward(const at::Tensor& x, bool training) = 0;
};

/// Makes one layer, whose tensors it adds under `name` ("layer1.0.norm1"). Networks are given a
/// factory, so that they need not know which kinds there are.
using NormFactory = std::function<std::unique_ptr<Norm>(
    NetworkTensors& tensors, const std::string& name, std::int64_t channels)>;

/// Batch normalisation as torch.nn.BatchNorm2d (eps 1e-5, momentum 0.1), over the samples of one
/// forward() of this rank. Where these hold one value a channel, running_var does not move, since
/// the unbiased variance of one value is not defined. Source: Ioffe and Szegedy, 2015.
NormFactory batch_norm();

/// Group normalisation as torch.nn.GroupNorm (eps 1e-5) with gcd(32, channels) groups: 32, or the
/// largest power of two below it that divides the channels. Mixes no samples. Source: Wu and He,
/// 2018.
NormFactory group_norm();

}  // namespace lockstep
