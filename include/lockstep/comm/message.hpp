#pragma once

#include <string>
#include <string_view>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// "all_reduce for <purpose>": what was attempted, for errors.
inline std::string message_text(std::string_view operation, std::string_view purpose) {
  return std::string(operation) + " for " + std::string(purpose);
}

/// Throws Error unless `buffer` is memory of the kind that the communicator reaches, and of a
/// sensible size.
void check_buffer(const Buffer& buffer, MemoryKind reachable, const std::string& attempted);

/// Throws Error unless `whole` holds `ranks` parts like `part`, both in memory of the kind that the
/// communicator reaches and of one dtype.
void check_parts(const Buffer& part, const Buffer& whole, int ranks, MemoryKind reachable,
                 const std::string& attempted);

/// Throws Error where the arithmetic of `dtype` is not defined on the host (float16, bfloat16).
void check_reducible_on_host(DType dtype, const std::string& attempted);

}  // namespace lockstep
