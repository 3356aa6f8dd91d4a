#pragma once

#include <chrono>

namespace lockstep {

/// Seconds since 1970, for records that people and other programs read; it may jump.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Seconds by a clock that nobody sets; only differences mean anything.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace lockstep
