#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/cuda/gpu_api.hpp"

#include "support/stand_in_channel.hpp"
#include "support/stand_in_streams.hpp"

namespace lockstep {

/// What goes wrong on this rank. Collectives are counted from 0 in each communicator.
struct NcclFaults {
  NcclStatus unique_id = NcclStatus::success;
  NcclStatus init = NcclStatus::success;
  bool init_never_completes = false;
  int polls_until_launched = 0;  ///< of async_error, after which a launch reaches the stream
  bool launch_never_completes = false;
  std::optional<std::int64_t> launch_fails;     ///< this collective, with system_error
  std::optional<std::int64_t> never_completes;  ///< this collective: the rank does not take part
  std::optional<std::int64_t> error_after;      ///< remote_error when so many are done
  bool finalize_never_completes = false;
};

/// A collective as NCCL is asked for it.
struct StandInCollective {
  std::string what;  ///< equal on all ranks, e.g. "all_reduce 3 float32 sum"
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t send_bytes = 0;
  std::size_t receive_bytes = 0;
  /// The bytes that this rank receives, from what all ranks sent.
  std::function<std::vector<std::byte>(const std::vector<StandInMessage>& messages, int rank)>
      result;
  CudaStream stream = nullptr;
};

class StandInNccl;

/// A communicator of the stand-in's.
struct NcclCommObject {
  StandInNccl* nccl = nullptr;
  StandInChannel* channel = nullptr;
  std::mutex mutex;  ///< of state, polls_left, not_launched
  NcclStatus state = NcclStatus::in_progress;
  bool connecting = false;
  int polls_left = 0;
  std::deque<StandInCollective> not_launched;
  std::int64_t launched = 0;
  std::int64_t run = 0;
  std::atomic<bool> aborted = false;
};

/// NCCL in host memory, over the ranks of a host communicator: a collective takes place when its
/// stream comes to it, and busies the stream until all ranks are there or it is given up. It
/// insists on fresh ids, equal on all ranks, on equal collectives in equal order, on memory of the
/// device and on the caller's waiting while a call is in progress.
class StandInNccl {
 public:
  using IsDeviceMemory = std::function<bool(const void* data, std::size_t bytes)>;

  /// Good for `communicators` of NCCL's one after the other or at once. Collective.
  StandInNccl(Communicator& world, int communicators, StandInStreams& streams,
              std::size_t largest_message, IsDeviceMemory is_device_memory);

  NcclApi api();
  /// Ends what is left on all ranks; the streams must have been stopped. Collective.
  void finish();
  /// So that streams come to an end.
  void abort_all();

  NcclFaults faults;

  const std::vector<NcclUniqueId>& ids() const { return ids_; }
  /// What took place on this rank, in order, of all communicators.
  std::vector<std::string> log();
  /// Communicators that were neither destroyed nor aborted.
  int open() const { return open_; }

 private:
  NcclStatus init(NcclComm* comm, const NcclUniqueId& id);
  NcclStatus async_error(NcclComm comm, NcclStatus* state);
  void poll_connecting(NcclCommObject& comm);
  NcclStatus start(NcclComm comm, StandInCollective collective);
  NcclStatus launch(NcclCommObject& comm, std::vector<StandInCollective> collectives);
  void put(NcclCommObject& comm, StandInCollective collective);
  void run(NcclCommObject& comm, const StandInCollective& collective);
  NcclStatus group_end();
  void add_collectives(NcclApi& api);

  Communicator& world_;
  StandInStreams& streams_;
  IsDeviceMemory is_device_memory_;
  std::vector<std::unique_ptr<StandInChannel>> channels_;
  std::vector<std::unique_ptr<NcclCommObject>> comms_;
  std::vector<NcclUniqueId> ids_;
  bool in_group_ = false;
  NcclComm group_comm_ = nullptr;
  std::vector<StandInCollective> group_;
  std::atomic<int> open_ = 0;
  std::mutex log_mutex_;
  std::vector<std::string> log_;
};

}  // namespace lockstep
