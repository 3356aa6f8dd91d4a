#include "config/layer.hpp"

#include <algorithm>

#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

std::string text_with(const std::vector<std::string>& near) {
  // With none near nothing is listed, as a hundred names would bury the message.
  if (near.empty()) return "unknown setting";
  return "unknown setting; did you mean '" + joined(near, "' or '") + "'?";
}

}  // namespace

std::string setting_name(std::string_view written) {
  std::string name(written);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string unknown_setting_text(std::string_view name, std::span<const std::string> candidates) {
  return text_with(nearest_names(name, candidates));
}

std::string unknown_setting_text(const SettingEntry& entry,
                                 std::span<const std::string> candidates) {
  std::vector<std::string> near = nearest_names(entry.name, candidates);
  if (entry.written != nullptr) std::ranges::transform(near, near.begin(), entry.written);
  return text_with(near);
}

}  // namespace lockstep
