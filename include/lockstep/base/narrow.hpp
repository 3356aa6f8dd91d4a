#pragma once

#include <string>
#include <utility>

#include "lockstep/base/error.hpp"

namespace lockstep {

/// Converts an integer to another integer type; throws Error where the value does not fit.
template <typename To, typename From>
To narrow(From value) {
  if (!std::in_range<To>(value)) {
    throw Error("convert an integer", "the value " + std::to_string(value) + " does not fit");
  }
  return static_cast<To>(value);
}

}  // namespace lockstep
