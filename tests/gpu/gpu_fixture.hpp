#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/cuda/gpu_library.hpp"
#include "lockstep/cuda/nccl_communicator.hpp"

#include "support/numbers.hpp"

namespace lockstep {

/// The real functions: of the library beside the test program, or where the build has put it.
inline const GpuApi& real_gpu_api() {
  static const GpuApi api = [] {
    const auto beside = gpu_library_beside(std::filesystem::read_symlink("/proc/self/exe"));
    return load_gpu_api(std::filesystem::exists(beside) ? beside : LOCKSTEP_GPU_LIBRARY);
  }();
  return api;
}

inline void require(CudaStatus status) {
  if (status == CudaStatus::success) return;
  throw std::runtime_error("CUDA: " + real_gpu_api().cuda.error_text(status));
}

/// Numbers in a GPU's memory, in order with what is in `stream`.
class GpuValues {
 public:
  GpuValues(DType dtype, const std::vector<double>& values, CudaStream stream)
      : dtype_(dtype), count_(values.size()), stream_(stream) {
    require(cuda().allocate(&data_, bytes()));
    std::vector<std::byte> staged(bytes());
    for (std::size_t i = 0; i < count_; ++i) store_number(dtype, staged.data(), i, values[i]);
    require(cuda().copy_async(data_, staged.data(), bytes(), stream_));
    require(cuda().synchronize_stream(stream_));
  }
  GpuValues(const GpuValues&) = delete;
  GpuValues& operator=(const GpuValues&) = delete;
  ~GpuValues() { cuda().free(data_); }

  Buffer buffer() const {
    return {.data = data_,
            .count = static_cast<std::int64_t>(count_),
            .dtype = dtype_,
            .memory = MemoryKind::cuda,
            .stream = stream_};
  }

  /// Waits for what is in the stream.
  std::vector<std::byte> memory() const {
    std::vector<std::byte> copied(bytes());
    require(cuda().copy_async(copied.data(), data_, bytes(), stream_));
    require(cuda().synchronize_stream(stream_));
    return copied;
  }
  std::vector<double> get() const {
    const std::vector<std::byte> copied = memory();
    std::vector<double> values;
    for (std::size_t i = 0; i < count_; ++i) {
      values.push_back(load_number(dtype_, copied.data(), i));
    }
    return values;
  }

 private:
  static const CudaApi& cuda() { return real_gpu_api().cuda; }
  std::size_t bytes() const { return count_ * size_of(dtype_); }

  DType dtype_;
  std::size_t count_;
  CudaStream stream_;
  void* data_ = nullptr;
};

/// The ranks of the test, all on one node, each with the GPU of its number. Skips where there are
/// fewer GPUs than ranks.
class OnGpu : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_of_suite() = MpiCommunicator::duplicate_world(); }
  static void TearDownTestSuite() { world_of_suite().reset(); }

  void SetUp() override {
    int devices = 0;
    const CudaStatus status = real_gpu_api().cuda.device_count(&devices);
    if (status != CudaStatus::success || devices == 0) {
      GTEST_SKIP() << "no GPU here: " << real_gpu_api().cuda.error_text(status);
    }
    if (devices < size()) {
      GTEST_SKIP() << size() << " ranks need as many GPUs, and here are " << devices;
    }
    require(real_gpu_api().cuda.set_device(rank()));
    require(real_gpu_api().cuda.create_stream(&compute, 0));
  }
  void TearDown() override {
    if (compute != nullptr) require(real_gpu_api().cuda.destroy_stream(compute));
  }

  Communicator& world() { return *world_of_suite(); }
  int rank() { return world().rank(); }
  int size() { return world().size(); }

  std::unique_ptr<NcclCommunicator> connect() {
    NcclOptions options;
    options.device = rank();
    options.setup_deadline = std::chrono::seconds(60);
    options.collective_deadline = std::chrono::seconds(30);
    return NcclCommunicator::connect(real_gpu_api(), world().duplicate("a test"), options);
  }

  CudaStream compute = nullptr;

 private:
  static std::unique_ptr<MpiCommunicator>& world_of_suite() {
    static std::unique_ptr<MpiCommunicator> world;
    return world;
  }
};

}  // namespace lockstep
