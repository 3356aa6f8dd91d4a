#include "lockstep/io/hdf5_version.hpp"

#include <hdf5.h>

namespace lockstep {

// The headers' constants rather than H5get_libversion(), which only the IO thread may call. The
// library refuses to start where the two differ.
std::string hdf5_version() {
  return std::to_string(H5_VERS_MAJOR) + "." + std::to_string(H5_VERS_MINOR) + "." +
         std::to_string(H5_VERS_RELEASE);
}

}  // namespace lockstep
