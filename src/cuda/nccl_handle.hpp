#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/cuda/gpu_api.hpp"
#include "lockstep/cuda/nccl_communicator.hpp"

namespace lockstep {

/// Where a rank stands, for errors.
struct NcclPeer {
  int rank = 0;
  int size = 1;
  std::string host;
};

/// What NCCL says, on which rank, and what to try.
Error nccl_error(std::string attempted, const NcclPeer& peer, const std::string& reason);

/// NCCL's words for `status` and, where it has any, what it last met (null: without a
/// communicator).
std::string nccl_text(const NcclApi& api, NcclStatus status, NcclComm comm);

/// One ncclComm_t of the kind that does not block, for two threads: the one that trains and the one
/// that watches. The first failure is its last state.
class NcclHandle {
 public:
  using Call = std::function<NcclStatus(NcclComm)>;

  /// Connects this rank to the others, who do the same with the same `id`. `api` is borrowed.
  NcclHandle(const NcclApi& api, NcclPeer peer, const NcclUniqueId& id, const NcclOptions& options);
  NcclHandle(const NcclHandle&) = delete;
  NcclHandle& operator=(const NcclHandle&) = delete;
  /// Gives up what is in flight unless finish() was called.
  ~NcclHandle();

  /// Does `call`, which starts one collective or one group, and returns when NCCL has put it into
  /// the stream; throws Error and gives up where it fails or takes longer than a collective may.
  void launch(const Call& call, const std::string& attempted);

  /// The failure that NCCL has met on the way, if any; throws the one that was kept, if any.
  std::optional<Error> find_async_error();

  /// Keeps `error` unless there is one; false: there is one.
  bool keep_failure(const Error& error);
  /// Throws the failure that was kept, if any.
  void check_failure();
  void give_up() noexcept;

  Error error(std::string attempted, const std::string& reason) const {
    return nccl_error(std::move(attempted), peer_, reason);
  }

  /// Closes the communicator when all is done that is in flight.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  NcclStatus begin(const Call& call);
  void settle(NcclStatus status, std::chrono::seconds patience, const std::string& attempted);
  NcclStatus state();
  std::string text_of(NcclStatus status);
  [[noreturn]] void fail(const std::string& attempted, const std::string& reason);

  const NcclApi& api_;
  NcclPeer peer_;
  std::chrono::seconds collective_deadline_;
  std::function<Clock::time_point()> now_;
  std::function<void(const Error&)> on_failure_;  ///< empty until the ranks are connected

  std::mutex mutex_;  ///< of what follows, and of every call on comm_
  NcclComm comm_ = nullptr;
  std::optional<Error> failure_;
};

}  // namespace lockstep
