#include "app/freed_memory.hpp"

#include <algorithm>
#include <limits>

#include <malloc.h>

namespace lockstep {
namespace {

bool sets_up_the_allocator(const EnvironmentMap::value_type& variable) {
  return variable.first.starts_with("MALLOC_") || variable.first == "GLIBC_TUNABLES";
}

}  // namespace

void keep_freed_memory(const EnvironmentMap& environment) {
#ifdef __GLIBC__
  if (std::ranges::any_of(environment, sets_up_the_allocator)) return;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace lockstep
