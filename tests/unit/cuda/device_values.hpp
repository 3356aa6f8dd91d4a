#pragma once

#include <vector>

#include "lockstep/comm/communicator.hpp"

#include "support/gpu_stand_in.hpp"
#include "support/numbers.hpp"

namespace lockstep {

/// Numbers in the stand-in's device memory.
class DeviceValues {
 public:
  DeviceValues(GpuStandIn& gpu, DType dtype, const std::vector<double>& values,
               CudaStream stream = nullptr)
      : gpu_(gpu), dtype_(dtype), count_(values.size()), stream_(stream) {
    gpu.api().cuda.allocate(&data_, count_ * size_of(dtype));
    set(values);
  }
  DeviceValues(const DeviceValues&) = delete;
  DeviceValues& operator=(const DeviceValues&) = delete;
  ~DeviceValues() { gpu_.api().cuda.free(data_); }

  Buffer buffer() const {
    return {.data = data_,
            .count = static_cast<std::int64_t>(count_),
            .dtype = dtype_,
            .memory = MemoryKind::cuda,
            .stream = stream_};
  }

  // At once, whatever is in the stream: what a kernel does while it runs.
  void set(const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) store_number(dtype_, data_, i, values[i]);
  }
  std::vector<double> get() const {
    std::vector<double> values;
    for (std::size_t i = 0; i < count_; ++i) values.push_back(load_number(dtype_, data_, i));
    return values;
  }

  /// The values when everything is done that is in their stream.
  std::vector<double> get_when_done() const {
    gpu_.streams().synchronize(stream_);
    return get();
  }

 private:
  GpuStandIn& gpu_;
  DType dtype_;
  std::size_t count_;
  CudaStream stream_;
  void* data_ = nullptr;
};

}  // namespace lockstep
