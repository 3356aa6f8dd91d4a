#pragma once

#include "lockstep/launch/environment.hpp"

namespace lockstep {

/// From now on this process keeps the memory that it frees, in pieces below 1 GiB each, instead of
/// giving it back to the system: a step's tensors are freed and needed again in the next one, and
/// fresh pages would have to be filled with zeros. With glibc's allocator alone, and not where the
/// user has set it up (MALLOC_..._, GLIBC_TUNABLES). To be called before other threads are started.
void keep_freed_memory(const EnvironmentMap& environment);

}  // namespace lockstep
