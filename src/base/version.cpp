#include "lockstep/base/version.hpp"

namespace lockstep {

std::string_view version() {
  return LOCKSTEP_VERSION;
}

}  // namespace lockstep
