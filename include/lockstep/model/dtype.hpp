#pragma once

#include <c10/core/ScalarType.h>

#include "lockstep/base/dtype.hpp"

namespace lockstep {

/// LibTorch's name of an element type.
at::ScalarType scalar_type_of(DType dtype);

/// The element type of that LibTorch name; throws Error for those Lockstep does not exchange.
DType dtype_of(at::ScalarType type);

}  // namespace lockstep
