#pragma once

#include <cstddef>

#include "lockstep/cuda/gpu_api.hpp"

// What the library of real functions exports.

extern "C" {

/// Fills `api` if it is of the size that the library was compiled with; returns that size.
std::size_t lockstep_fill_gpu_api(lockstep::GpuApi* api, std::size_t size);
}

namespace lockstep {

inline constexpr const char* gpu_library_entry = "lockstep_fill_gpu_api";

}  // namespace lockstep
