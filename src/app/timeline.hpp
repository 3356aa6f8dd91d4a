#pragma once

#include <memory>

#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// Shows every ProfileRange to tools that draw a GPU's timeline (Nsight Systems), as long as what
/// it returns lives. `cuda` is kept; one at a time. Next to nothing where no such tool watches.
/// Throws std::logic_error. Not collective.
std::shared_ptr<void> show_ranges(const std::shared_ptr<const CudaApi>& cuda);

}  // namespace lockstep
