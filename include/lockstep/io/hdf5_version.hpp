#pragma once

#include <string>

namespace lockstep {

/// Version of the HDF5 library in use, e.g. "1.10.8". May be called on any thread.
std::string hdf5_version();

}  // namespace lockstep
