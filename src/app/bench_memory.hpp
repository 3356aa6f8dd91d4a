#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/bench/all_reduce_bench.hpp"

#include "app/compute.hpp"

namespace lockstep {

/// Memory of what this rank computes on, for messages; zeros on a CPU, anything on a GPU.
class BenchMemory {
 public:
  /// `compute` is borrowed. Throws Error.
  BenchMemory(const Compute& compute, std::int64_t bytes) : compute_(compute) {
    message_.bytes = bytes;
    if (!compute.on_gpu()) {
      host_.resize(static_cast<std::size_t>(bytes));
      message_.data = host_.data();
      return;
    }
    const CudaApi& cuda = compute.gpu->api.cuda;
    const CudaStatus status = cuda.allocate(&message_.data, static_cast<std::size_t>(bytes));
    if (status != CudaStatus::success) {
      throw Error("allocate memory for messages on the GPU", cuda.error_text(status),
                  "a smaller largest_message");
    }
    message_.kind = MemoryKind::cuda;
    message_.wait = [&cuda] { static_cast<void>(cuda.synchronize_stream(nullptr)); };
  }
  BenchMemory(const BenchMemory&) = delete;
  BenchMemory& operator=(const BenchMemory&) = delete;
  ~BenchMemory() {
    if (compute_.on_gpu()) static_cast<void>(compute_.gpu->api.cuda.free(message_.data));
  }

  const MessageMemory& message() const { return message_; }

 private:
  const Compute& compute_;
  MessageMemory message_;
  std::vector<std::byte> host_;
};

}  // namespace lockstep
