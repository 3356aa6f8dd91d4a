#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lockstep/cuda/gpu_api.hpp"

#include "support/stand_in_nccl.hpp"
#include "support/stand_in_streams.hpp"

namespace lockstep {

/// A GPU and NCCL for ranks that have neither: the tables of functions that the cuda module calls,
/// filled with ones that do the same in host memory, and records of who called what.
class GpuStandIn {
 public:
  static constexpr int greatest_priority = -5;

  /// For `communicators` of NCCL's, whose messages have at most so many bytes. Collective over
  /// `world`, which is borrowed.
  GpuStandIn(Communicator& world, int communicators, std::size_t largest_message = 4096);
  GpuStandIn(const GpuStandIn&) = delete;
  GpuStandIn& operator=(const GpuStandIn&) = delete;
  ~GpuStandIn();

  /// May be changed before anything uses it.
  GpuApi& api() { return api_; }
  StandInStreams& streams() { return streams_; }
  StandInNccl& nccl() { return nccl_; }
  /// NCCL's own stream of the only communicator.
  CudaStream nccl_stream() { return streams_.find(greatest_priority); }

  std::vector<GpuProperties> devices;  ///< at first one that no other rank has

  /// The functions that this object's maker's thread called so far, in order, by their names in the
  /// tables.
  std::vector<std::string> calls();
  void clear_calls();
  int calls_of(std::string_view name);
  /// Returns when other threads have called the function `times` more often than now.
  void wait_for_calls_elsewhere(const std::string& name, int times);
  /// Whether memory that was not made through the tables is the GPU's too.
  std::function<bool(const void* data, std::size_t bytes)> is_others_device_memory;
  /// Told of each of these calls before it is made.
  std::function<void(const std::string& name)> on_call;

  /// Streams, events, memory and communicators that were made and not given back.
  int open_objects();

  /// Ends what is under way on all ranks. Collective.
  void finish();

 private:
  CudaApi cuda_api();
  void add_memory(CudaApi& api);
  void add_streams(CudaApi& api);
  void record_calls();
  template <typename Result, typename... Arguments>
  void record(std::function<Result(Arguments...)>& function, std::string name);
  void note(const std::string& name);
  bool is_device_memory(const void* data, std::size_t bytes);

  std::mutex mutex_;  ///< of what follows
  std::condition_variable called_;
  std::thread::id home_ = std::this_thread::get_id();
  std::vector<std::string> calls_;
  std::map<std::string, int> calls_elsewhere_;
  std::map<const std::byte*, std::unique_ptr<std::vector<std::byte>>> device_memory_;
  std::map<const std::byte*, std::unique_ptr<std::vector<std::byte>>> pinned_memory_;
  std::set<CudaStream> open_streams_;
  std::set<CudaEvent> open_events_;

  std::vector<std::unique_ptr<CudaEventObject>> events_;
  StandInStreams streams_;
  StandInNccl nccl_;
  GpuApi api_;
};

}  // namespace lockstep
