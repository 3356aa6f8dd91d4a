#pragma once

#include <string>
#include <string_view>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// "all_reduce for <purpose>": what was attempted, for errors.
inline std::string message_text(std::string_view operation, std::string_view purpose) {
  return std::string(operation) + " for " + std::string(purpose);
}

/// Throws Error unless `buffer` is host memory of a sensible size.
void check_host_buffer(const Buffer& buffer, const std::string& attempted);

/// Throws Error unless `whole` holds `ranks` parts like `part`, both in host memory and of one
/// dtype.
void check_parts(const Buffer& part, const Buffer& whole, int ranks, const std::string& attempted);

/// Throws Error where the arithmetic of `dtype` is not defined on the host (float16, bfloat16).
void check_reducible(DType dtype, const std::string& attempted);

}  // namespace lockstep
