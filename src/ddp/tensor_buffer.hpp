#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// The memory of a contiguous tensor as a message of its dtype; that of one that is not on the CPU
/// is in its GPU's default stream. Throws Error for a tensor that is not contiguous.
Buffer buffer_of(const at::Tensor& tensor);

/// The same as plain bytes, for any dtype.
Buffer bytes_of(const at::Tensor& tensor);

}  // namespace lockstep
