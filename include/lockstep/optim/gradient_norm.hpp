#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

/// The Euclidean norm of `flat` (1-d, contiguous, float32 or float64, on the CPU), summed in
/// float64 in an order that depends on the number of elements alone: ranks that hold the same bits
/// get the same norm, however many threads each has. NaN or infinite exactly where an element is,
/// but for float64 elements beyond 1e154, whose squares overflow. Throws Error for other dtypes.
double l2_norm(const at::Tensor& flat);

/// What gradients of norm `norm` are to be multiplied by so that it is at most `max_norm`; 0: no
/// limit. As torch.nn.utils.clip_grad_norm_: min(1, max_norm / (norm + 1e-6)).
double clip_factor(double norm, double max_norm);

}  // namespace lockstep
