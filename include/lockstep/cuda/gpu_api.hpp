#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "lockstep/base/dtype.hpp"
#include "lockstep/comm/communicator.hpp"

// What Lockstep calls of the CUDA runtime and of NCCL, as tables of functions: src/cuda/gpu_api.cpp
// fills them with the real ones, in a library that is loaded when a GPU is used; the tests fill
// them with a stand-in. Each does what the function of CUDA or NCCL does that its comment names.

namespace lockstep {

/// A cudaError_t. The values that anything is decided by have names, the others are carried along.
enum class CudaStatus : int { success = 0, out_of_memory = 2, not_ready = 600 };

/// A ncclResult_t.
enum class NcclStatus : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

using CudaStream = struct CudaStreamObject*;  ///< a cudaStream_t; null is the default stream
using CudaEvent = struct CudaEventObject*;    ///< a cudaEvent_t
using NcclComm = struct NcclCommObject*;      ///< a ncclComm_t
using NcclUniqueId = std::array<std::byte, 128>;

/// What tells GPUs apart and is worth a line in a log.
struct GpuProperties {
  std::string name;
  std::array<std::byte, 16> uuid{};
  std::size_t memory_bytes = 0;
  int compute_major = 0;  ///< first number of its compute capability
};

struct CudaApi {
  std::function<CudaStatus(int* count)> device_count;  // GetDeviceCount
  std::function<CudaStatus(int device)> set_device;    // SetDevice
  std::function<CudaStatus(GpuProperties* properties, int device)> get_properties;  // ...Properties
  std::function<CudaStatus(std::size_t* free, std::size_t* total)> memory_info;     // MemGetInfo

  std::function<CudaStatus(void** data, std::size_t bytes)> allocate;         // Malloc
  std::function<CudaStatus(void* data)> free;                                 // Free
  std::function<CudaStatus(void** data, std::size_t bytes)> allocate_pinned;  // HostAlloc
  std::function<CudaStatus(void* data)> free_pinned;                          // FreeHost
  /// Between host and device memory of any kind (cudaMemcpyDefault).
  std::function<CudaStatus(void* to, const void* from, std::size_t bytes, CudaStream)> copy_async;

  std::function<CudaStatus(int* least, int* greatest)> priority_range;  // GetStreamPriorityRange
  /// Of the kind that does not wait for the default stream (cudaStreamNonBlocking).
  std::function<CudaStatus(CudaStream*, int priority)> create_stream;
  std::function<CudaStatus(CudaStream)> destroy_stream;           // StreamDestroy
  std::function<CudaStatus(CudaStream)> synchronize_stream;       // StreamSynchronize
  std::function<CudaStatus(CudaStream, CudaEvent)> wait_event;    // StreamWaitEvent
  std::function<CudaStatus(CudaEvent*)> create_event;             // EventCreate, without timing
  std::function<CudaStatus(CudaEvent, CudaStream)> record_event;  // EventRecord
  std::function<CudaStatus(CudaEvent)> query_event;               // EventQuery
  std::function<CudaStatus(CudaEvent)> destroy_event;             // EventDestroy

  std::function<std::string(CudaStatus)> error_text;  // GetErrorName, GetErrorString

  /// Names what the thread does from here on, for tools that draw timelines (nvtxRangePush); ranges
  /// nest.
  std::function<void(const char* name)> begin_range;
  std::function<void()> end_range;  // nvtxRangePop
};

struct NcclApi {
  std::function<NcclStatus(int* version)> version;     // GetVersion
  std::function<NcclStatus(NcclUniqueId*)> unique_id;  // GetUniqueId
  /// ncclCommInitRankConfig with blocking = 0 on the thread's device: in_progress until
  /// async_error() says otherwise, as with every call on the communicator afterwards.
  std::function<NcclStatus(NcclComm*, int ranks, const NcclUniqueId&, int rank)> init;
  std::function<NcclStatus(NcclComm, NcclStatus* state)> async_error;  // CommGetAsyncError
  std::function<NcclStatus(NcclComm)> finalize;                        // CommFinalize
  std::function<NcclStatus(NcclComm)> destroy;                         // CommDestroy
  std::function<NcclStatus(NcclComm)> abort;                           // CommAbort

  std::function<NcclStatus(const void* send, void* receive, std::size_t count, DType, ReduceOp,
                           NcclComm, CudaStream)>
      all_reduce;
  std::function<NcclStatus(const void* send, void* receive, std::size_t count, DType, int root,
                           NcclComm, CudaStream)>
      broadcast;
  std::function<NcclStatus(const void* send, void* receive, std::size_t send_count, DType, NcclComm,
                           CudaStream)>
      all_gather;
  std::function<NcclStatus(const void* send, void* receive, std::size_t receive_count, DType,
                           ReduceOp, NcclComm, CudaStream)>
      reduce_scatter;
  std::function<NcclStatus()> group_start;
  std::function<NcclStatus()> group_end;

  std::function<std::string(NcclStatus)> error_text;  // GetErrorString
  std::function<std::string(NcclComm)> last_error;    // GetLastError; null: of this thread's calls
};

struct GpuApi {
  CudaApi cuda;
  NcclApi nccl;
};

}  // namespace lockstep
