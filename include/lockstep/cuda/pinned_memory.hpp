#pragma once

#include <memory_resource>

#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// Host memory that a GPU copies from and to while the host goes on. Any thread may use it; the GPU
/// becomes that thread's, since CUDA would set up another one, the first it sees, only for this.
class PinnedMemory : public std::pmr::memory_resource {
 public:
  /// `api` is borrowed and must live longer than what is allocated; `device` as CUDA counts GPUs.
  PinnedMemory(const CudaApi& api, int device) : api_(api), device_(device) {}

 private:
  /// Throws Error with what CUDA says.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  const CudaApi& api_;
  int device_;
};

}  // namespace lockstep
