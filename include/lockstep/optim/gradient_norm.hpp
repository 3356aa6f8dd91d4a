#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

/// The Euclidean norm of `flat` (1-d, contiguous, float32 or float64), a float64 scalar on its
/// device. On the CPU it is summed in an order that depends on the number of elements alone: ranks
/// that hold the same bits get the same norm, however many threads each has. On a GPU the order is
/// LibTorch's for this kind of GPU. NaN or infinite exactly where an element is, but for float64
/// elements beyond 1e154, whose squares overflow. Never waits for a GPU. Throws Error for other
/// dtypes.
at::Tensor l2_norm(const at::Tensor& flat);

/// What gradients of norm `norm` (a float64 scalar) are to be multiplied by so that it is at most
/// `max_norm`, which is above 0; on the norm's device. As torch.nn.utils.clip_grad_norm_: min(1,
/// max_norm / (norm + 1e-6)).
at::Tensor clip_factor(const at::Tensor& norm, double max_norm);

}  // namespace lockstep
