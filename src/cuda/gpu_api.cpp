// The real functions of CUDA (NVTX included) and NCCL. Only this file sees their headers; it is
// compiled into a library of its own, where there is a toolkit. Thin on purpose: no test reaches it
// without a GPU.
#include "lockstep/cuda/gpu_api.hpp"

#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>
#include <nccl.h>

#include "cuda/gpu_library_entry.hpp"

// NVTX is a header of the toolkit's that some packages of it leave out.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
#define nvtxRangePushA(name) static_cast<void>(name)
#define nvtxRangePop() static_cast<void>(0)
#endif

namespace lockstep {
namespace {

static_assert(static_cast<int>(CudaStatus::success) == cudaSuccess);
static_assert(static_cast<int>(CudaStatus::out_of_memory) == cudaErrorMemoryAllocation);
static_assert(static_cast<int>(CudaStatus::not_ready) == cudaErrorNotReady);
static_assert(static_cast<int>(NcclStatus::success) == ncclSuccess);
static_assert(static_cast<int>(NcclStatus::unhandled_cuda_error) == ncclUnhandledCudaError);
static_assert(static_cast<int>(NcclStatus::system_error) == ncclSystemError);
static_assert(static_cast<int>(NcclStatus::internal_error) == ncclInternalError);
static_assert(static_cast<int>(NcclStatus::invalid_argument) == ncclInvalidArgument);
static_assert(static_cast<int>(NcclStatus::invalid_usage) == ncclInvalidUsage);
static_assert(static_cast<int>(NcclStatus::remote_error) == ncclRemoteError);
static_assert(static_cast<int>(NcclStatus::in_progress) == ncclInProgress);
static_assert(sizeof(NcclUniqueId) == sizeof(ncclUniqueId));

CudaStatus status(cudaError_t code) {
  return static_cast<CudaStatus>(code);
}
NcclStatus status(ncclResult_t code) {
  return static_cast<NcclStatus>(code);
}

cudaStream_t real(CudaStream stream) {
  return reinterpret_cast<cudaStream_t>(stream);
}
cudaEvent_t real(CudaEvent event) {
  return reinterpret_cast<cudaEvent_t>(event);
}
ncclComm_t real(NcclComm comm) {
  return reinterpret_cast<ncclComm_t>(comm);
}

ncclDataType_t real(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return ncclUint8;
    case DType::int32:
      return ncclInt32;
    case DType::int64:
      return ncclInt64;
    case DType::float16:
      return ncclFloat16;
    case DType::bfloat16:
      return ncclBfloat16;
    case DType::float32:
      return ncclFloat32;
    case DType::float64:
      break;
  }
  return ncclFloat64;
}

ncclRedOp_t real(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return ncclSum;
    case ReduceOp::max:
      return ncclMax;
    case ReduceOp::min:
      break;
  }
  return ncclMin;
}

CudaStatus get_properties(GpuProperties* properties, int device) {
  cudaDeviceProp found{};
  const cudaError_t code = cudaGetDeviceProperties(&found, device);
  if (code != cudaSuccess) return status(code);
  properties->name = found.name;
  static_assert(sizeof found.uuid.bytes == sizeof properties->uuid);
  std::memcpy(properties->uuid.data(), found.uuid.bytes, sizeof found.uuid.bytes);
  properties->memory_bytes = found.totalGlobalMem;
  properties->compute_major = found.major;
  return CudaStatus::success;
}

/// Of a call whose failure is its caller's alone: CUDA would keep it as the thread's last error,
/// which LibTorch looks at after a launch.
CudaStatus status_alone(cudaError_t code) {
  if (code == cudaErrorNotReady || code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
  }
  return status(code);
}

void fill(CudaApi& api) {
  api.device_count = [](int* count) { return status(cudaGetDeviceCount(count)); };
  api.set_device = [](int device) { return status(cudaSetDevice(device)); };
  api.get_properties = get_properties;
  api.memory_info = [](std::size_t* free, std::size_t* total) {
    return status(cudaMemGetInfo(free, total));
  };

  api.allocate = [](void** data, std::size_t bytes) {
    return status_alone(cudaMalloc(data, bytes));
  };
  api.free = [](void* data) { return status(cudaFree(data)); };
  api.allocate_pinned = [](void** data, std::size_t bytes) {
    return status_alone(cudaHostAlloc(data, bytes, cudaHostAllocDefault));
  };
  api.free_pinned = [](void* data) { return status(cudaFreeHost(data)); };
  api.copy_async = [](void* to, const void* from, std::size_t bytes, CudaStream stream) {
    return status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, real(stream)));
  };

  api.priority_range = [](int* least, int* greatest) {
    return status(cudaDeviceGetStreamPriorityRange(least, greatest));
  };
  api.create_stream = [](CudaStream* stream, int priority) {
    return status(cudaStreamCreateWithPriority(reinterpret_cast<cudaStream_t*>(stream),
                                               cudaStreamNonBlocking, priority));
  };
  api.destroy_stream = [](CudaStream stream) { return status(cudaStreamDestroy(real(stream))); };
  api.synchronize_stream = [](CudaStream stream) {
    return status(cudaStreamSynchronize(real(stream)));
  };
  api.wait_event = [](CudaStream stream, CudaEvent event) {
    return status(cudaStreamWaitEvent(real(stream), real(event), cudaEventWaitDefault));
  };
  api.create_event = [](CudaEvent* event) {
    return status(
        cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t*>(event), cudaEventDisableTiming));
  };
  api.record_event = [](CudaEvent event, CudaStream stream) {
    return status(cudaEventRecord(real(event), real(stream)));
  };
  api.query_event = [](CudaEvent event) { return status_alone(cudaEventQuery(real(event))); };
  api.destroy_event = [](CudaEvent event) { return status(cudaEventDestroy(real(event))); };

  api.error_text = [](CudaStatus code) {
    const auto error = static_cast<cudaError_t>(code);
    return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
  };

  api.begin_range = [](const char* name) { nvtxRangePushA(name); };
  api.end_range = [] { nvtxRangePop(); };
}

NcclStatus init(NcclComm* comm, int ranks, const NcclUniqueId& id, int rank) {
  ncclUniqueId real_id;
  std::memcpy(&real_id, id.data(), sizeof real_id);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  unsetenv("NCCL_COMM_BLOCKING");  // NOLINT(concurrency-mt-unsafe): it would have the last word
  return status(
      ncclCommInitRankConfig(reinterpret_cast<ncclComm_t*>(comm), ranks, real_id, rank, &config));
}

void fill(NcclApi& api) {
  api.version = [](int* version) { return status(ncclGetVersion(version)); };
  api.unique_id = [](NcclUniqueId* id) {
    return status(ncclGetUniqueId(reinterpret_cast<ncclUniqueId*>(id)));
  };
  api.init = init;
  api.async_error = [](NcclComm comm, NcclStatus* state) {
    ncclResult_t code = ncclSuccess;
    const ncclResult_t result = ncclCommGetAsyncError(real(comm), &code);
    *state = status(code);
    return status(result);
  };
  api.finalize = [](NcclComm comm) { return status(ncclCommFinalize(real(comm))); };
  api.destroy = [](NcclComm comm) { return status(ncclCommDestroy(real(comm))); };
  api.abort = [](NcclComm comm) { return status(ncclCommAbort(real(comm))); };

  api.all_reduce = [](const void* send, void* receive, std::size_t count, DType dtype, ReduceOp op,
                      NcclComm comm, CudaStream stream) {
    return status(
        ncclAllReduce(send, receive, count, real(dtype), real(op), real(comm), real(stream)));
  };
  api.broadcast = [](const void* send, void* receive, std::size_t count, DType dtype, int root,
                     NcclComm comm, CudaStream stream) {
    return status(ncclBroadcast(send, receive, count, real(dtype), root, real(comm), real(stream)));
  };
  api.all_gather = [](const void* send, void* receive, std::size_t send_count, DType dtype,
                      NcclComm comm, CudaStream stream) {
    return status(ncclAllGather(send, receive, send_count, real(dtype), real(comm), real(stream)));
  };
  api.reduce_scatter = [](const void* send, void* receive, std::size_t receive_count, DType dtype,
                          ReduceOp op, NcclComm comm, CudaStream stream) {
    return status(ncclReduceScatter(send, receive, receive_count, real(dtype), real(op), real(comm),
                                    real(stream)));
  };
  api.group_start = [] { return status(ncclGroupStart()); };
  api.group_end = [] { return status(ncclGroupEnd()); };

  api.error_text = [](NcclStatus code) {
    return std::string(ncclGetErrorString(static_cast<ncclResult_t>(code)));
  };
  api.last_error = [](NcclComm comm) {
    const char* text = ncclGetLastError(real(comm));
    return std::string(text == nullptr ? "" : text);
  };
}

}  // namespace
}  // namespace lockstep

std::size_t lockstep_fill_gpu_api(lockstep::GpuApi* api, std::size_t size) {
  if (size == sizeof *api) {
    lockstep::fill(api->cuda);
    lockstep::fill(api->nccl);
  }
  return sizeof *api;
}
