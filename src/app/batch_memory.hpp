#pragma once

#include <optional>

#include "lockstep/cuda/pinned_memory.hpp"
#include "lockstep/data/loader.hpp"

#include "app/compute.hpp"

namespace lockstep {

/// Memory for batches that are to be computed on: pinned where that is a GPU.
class ComputeBatchMemory {
 public:
  /// `compute` is borrowed.
  explicit ComputeBatchMemory(const Compute& compute) {
    if (!compute.on_gpu()) return;
    const CudaApi& cuda = compute.gpu->api.cuda;
    memory_.resource = &pinned_.emplace(cuda, compute.index);
    // CUDA and LibTorch would otherwise set up the first GPU for a loader's thread.
    memory_.thread_begins = [&cuda, index = compute.index] {
      static_cast<void>(cuda.set_device(index));
    };
  }
  ComputeBatchMemory(const ComputeBatchMemory&) = delete;
  ComputeBatchMemory& operator=(const ComputeBatchMemory&) = delete;

  const BatchMemory& get() const { return memory_; }

 private:
  std::optional<PinnedMemory> pinned_;
  BatchMemory memory_;
};

}  // namespace lockstep
