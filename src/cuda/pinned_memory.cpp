#include "lockstep/cuda/pinned_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "lockstep/base/error.hpp"

#include "cuda/stream_event.hpp"

namespace lockstep {

void* PinnedMemory::do_allocate(std::size_t bytes, std::size_t /*alignment*/) {
  void* data = nullptr;  // of whole pages
  const std::string attempted = "allocate pinned memory for GPU " + std::to_string(device_);
  check_cuda(api_, api_.set_device(device_), attempted);
  const CudaStatus status = api_.allocate_pinned(&data, std::max(bytes, std::size_t{1}));
  if (status == CudaStatus::out_of_memory) {
    throw Error("allocate " + std::to_string(bytes) + " bytes of pinned host memory",
                api_.error_text(status),
                "fewer batches ahead (prefetch), a lower batch_size, more memory a task (sbatch "
                "--mem), or a higher limit of locked memory (ulimit -l)");
  }
  check_cuda(api_, status, attempted);  // also of what failed earlier on the GPU
  return data;
}

void PinnedMemory::do_deallocate(void* data, std::size_t /*bytes*/, std::size_t /*alignment*/) {
  static_cast<void>(api_.set_device(device_));
  static_cast<void>(api_.free_pinned(data));
}

}  // namespace lockstep
