#pragma once

#include <span>

#include <ATen/core/Tensor.h>

#include "lockstep/model/flat_layout.hpp"

namespace lockstep {

/// A zeroed 1-d tensor of `size` elements, of the dtype and device that all of `tensors` must share
/// (float32 on `device` where there are none). `what` names them in the error.
at::Tensor zeros_alike(std::span<const NamedTensor> tensors, std::int64_t size, const char* what,
                       at::Device device = at::kCPU);

/// Copies the tensors into `flat` and makes them views of it.
void move_into_flat(std::span<const NamedTensor> tensors, const FlatLayout& layout,
                    const at::Tensor& flat);

}  // namespace lockstep
