#pragma once

#include <functional>

namespace lockstep {

/// A ParallelFor (winograd_conv.hpp): one OpenMP thread a part. With GCC these are the threads that
/// LibTorch's operators use, so no others are started; other compilers bring an OpenMP of their
/// own, and there parts run one after the other.
void run_on_openmp(int parts, const std::function<void(int part)>& task);

}  // namespace lockstep
