#pragma once

#include <filesystem>

#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// Where the library of real functions lies: beside `program`, as the build puts it.
std::filesystem::path gpu_library_beside(const std::filesystem::path& program);

/// Loads the library of real functions, and with it the CUDA runtime and NCCL, which nothing else
/// does: a run on CPUs never has them in memory. Once loaded they stay. Throws Error where the
/// library is missing, cannot be loaded, or belongs to another build. Not collective.
GpuApi load_gpu_api(const std::filesystem::path& library);

}  // namespace lockstep
