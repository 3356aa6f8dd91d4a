#pragma once

#include "support/gpu_stand_in.hpp"
#include "support/stand_in_device.hpp"

namespace lockstep::test {

/// Makes the stand-in for CUDA and NCCL and the one for LibTorch's device the same GPU.
inline void make_one_gpu(GpuStandIn& gpu) {
  gpu.is_others_device_memory = is_stand_in_memory;
  // LibTorch's computes at once, and so it waits at once in the default stream.
  CudaApi& cuda = gpu.api().cuda;
  cuda.wait_event = [&gpu, wait = cuda.wait_event](CudaStream stream, CudaEvent event) {
    const CudaStatus status = wait(stream, event);
    if (stream == nullptr) gpu.streams().synchronize(stream);
    return status;
  };
}

}  // namespace lockstep::test
