#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/layer.hpp"

namespace lockstep {

/// Settings named LOCKSTEP_<NAME>, with the name in upper case. Variables in `others` are passed
/// over.
SettingLayer read_environment(const std::map<std::string, std::string>& environment,
                              const std::vector<std::string>& others);

}  // namespace lockstep
