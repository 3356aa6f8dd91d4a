#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

#include "lockstep/kernels/winograd_conv.hpp"
#include "lockstep/model/conv_algorithm.hpp"

namespace lockstep {

/// The convolutions of one network, with their workspaces; null where the CPU has no kernels or
/// they are not to be used.
struct WinogradConvs {
  std::unique_ptr<WinogradConv<float>> float32;
  std::unique_ptr<WinogradConv<BFloat16>> bfloat16;
};

/// Null for ConvAlgorithm::direct.
std::shared_ptr<WinogradConvs> make_winograd(ConvAlgorithm algorithm = ConvAlgorithm::winograd);

/// Whether winograd_conv2d() can compute this in the dtype in which LibTorch would: that of
/// autocast where it is on, else that of `x`. `weight` is float32.
bool takes_winograd(const WinogradConvs& convs, const at::Tensor& x, const at::Tensor& weight);

/// at::conv2d(x, weight, {}, 1, 1) of a 3x3 filter and its gradients, on as many threads as
/// LibTorch uses, and channels last. Under autocast `x` is narrowed as LibTorch would do it; the
/// filters are narrowed only when they are transformed, and their gradient is float32 throughout.
/// Gradients cannot be differentiated again. The graph shares `convs`, so forward and backward
/// passes of one network run on one thread at a time.
at::Tensor winograd_conv2d(const std::shared_ptr<WinogradConvs>& convs, const at::Tensor& x,
                           const at::Tensor& weight);

}  // namespace lockstep
