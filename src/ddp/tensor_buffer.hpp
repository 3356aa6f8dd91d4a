#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// The memory of a contiguous CPU tensor as a message of its dtype; throws Error for another
/// tensor.
Buffer buffer_of(const at::Tensor& tensor);

/// The same as plain bytes, for any dtype.
Buffer bytes_of(const at::Tensor& tensor);

}  // namespace lockstep
