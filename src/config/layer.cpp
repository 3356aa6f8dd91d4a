#include "config/layer.hpp"

#include <algorithm>

#include "lockstep/base/text.hpp"

namespace lockstep {

std::string setting_name(std::string_view written) {
  std::string name(written);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string unknown_setting_text(std::string_view name, std::span<const std::string> candidates) {
  const std::vector<std::string> near = nearest_names(name, candidates);
  // With none near nothing is listed, as a hundred names would bury the message.
  if (near.empty()) return "unknown setting";
  return "unknown setting; did you mean '" + joined(near, "' or '") + "'?";
}

}  // namespace lockstep
