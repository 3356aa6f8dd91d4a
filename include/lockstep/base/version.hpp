#pragma once

#include <string_view>

namespace lockstep {

/// Lockstep's version, e.g. "0.1.0".
std::string_view version();

}  // namespace lockstep
