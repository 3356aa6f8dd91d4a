#pragma once

#include <cstdint>
#include <string>

#include "lockstep/base/error.hpp"

namespace lockstep {

/// a * b; throws UsageError where that does not fit, since both come from the user's settings.
inline std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw UsageError("multiply " + std::to_string(a) + " by " + std::to_string(b),
                     "the number of samples is too large");
  }
  return result;
}

}  // namespace lockstep
