#include "config/environment.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lockstep {
namespace {

constexpr std::string_view prefix = "LOCKSTEP_";

char lower(unsigned char c) {
  return static_cast<char>(std::tolower(c));
}

std::string variable_of(const std::string& setting) {
  std::string variable(prefix);
  for (const char c : setting) {
    variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return variable;
}

}  // namespace

SettingLayer read_environment(const std::map<std::string, std::string>& environment,
                              const std::vector<std::string>& others) {
  SettingLayer layer;
  for (const auto& [variable, value] : environment) {
    if (!variable.starts_with(prefix)) continue;
    if (std::find(others.begin(), others.end(), variable) != others.end()) continue;
    std::string name = variable.substr(prefix.size());
    const std::string origin = "environment variable " + variable;
    const bool is_upper =
        std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c); });
    std::transform(name.begin(), name.end(), name.begin(), lower);
    layer.push_back({name, value, origin, origin, is_upper ? "" : "the name must be in upper case",
                     variable_of});
  }
  return layer;
}

}  // namespace lockstep
