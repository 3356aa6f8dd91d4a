#pragma once

#include <map>
#include <string>

namespace lockstep {

/// Environment variables by name.
using EnvironmentMap = std::map<std::string, std::string>;

/// This process's environment as it is now. Only main reads it; everything else is given the map.
EnvironmentMap environment_map();

}  // namespace lockstep
