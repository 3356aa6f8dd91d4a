#pragma once

#include "lockstep/comm/communicator.hpp"
#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// How many GPUs this process sees, by CUDA. Throws Error. Not collective.
int count_gpus(const CudaApi& api);

/// Makes GPU `index` the calling thread's and this rank's own, and tells what it is. Throws
/// AgreedError on all ranks where one cannot use its GPU or two share one. Collective over `world`.
GpuProperties claim_gpu(const CudaApi& api, int index, Communicator& world);

}  // namespace lockstep
