#include "lockstep/launch/environment.hpp"

#include <string_view>

#include <unistd.h>

namespace lockstep {

EnvironmentMap environment_map() {
  EnvironmentMap map;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    map.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return map;
}

}  // namespace lockstep
