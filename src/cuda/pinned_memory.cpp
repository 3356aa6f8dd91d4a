#include "lockstep/cuda/pinned_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <new>

namespace lockstep {

void* PinnedMemory::do_allocate(std::size_t bytes, std::size_t /*alignment*/) {
  void* data = nullptr;  // of whole pages
  const CudaStatus status = api_.allocate_pinned(&data, std::max(bytes, std::size_t{1}));
  if (status != CudaStatus::success) throw std::bad_alloc();
  return data;
}

void PinnedMemory::do_deallocate(void* data, std::size_t /*bytes*/, std::size_t /*alignment*/) {
  static_cast<void>(api_.free_pinned(data));
}

}  // namespace lockstep
