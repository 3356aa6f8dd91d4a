#include "cuda/nccl_handle.hpp"

#include <thread>
#include <utility>

namespace lockstep {
namespace {

/// Launches take microseconds and are waited for without sleep; connecting takes seconds.
void pause(int polls) {
  constexpr int polls_without_sleep = 1000;
  if (polls < polls_without_sleep) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string seconds_text(std::chrono::seconds duration) {
  return std::to_string(duration.count()) + " s";
}

}  // namespace

Error nccl_error(std::string attempted, const NcclPeer& peer, const std::string& reason) {
  return Error(
      std::move(attempted),
      "rank " + std::to_string(peer.rank) + " of " + std::to_string(peer.size) + " on host " +
          peer.host + ": " + reason,
      "see whether another rank failed first. NCCL_DEBUG=INFO makes NCCL say what it does, "
      "NCCL_SOCKET_IFNAME=<interface> chooses the network, NCCL_IB_DISABLE=1 leaves "
      "InfiniBand out, NCCL_P2P_DISABLE=1 GPUs' ways to each other, which a job that shows each "
      "task its own GPU alone (srun --gpus-per-task, --gpu-bind) may have closed");
}

std::string nccl_text(const NcclApi& api, NcclStatus status, NcclComm comm) {
  const std::string details = api.last_error(comm);
  return api.error_text(status) + (details.empty() ? "" : ": " + details);
}

NcclHandle::NcclHandle(const NcclApi& api, NcclPeer peer, const NcclUniqueId& id,
                       const NcclOptions& options)
    : api_(api),
      peer_(std::move(peer)),
      collective_deadline_(options.collective_deadline),
      now_(options.now) {
  try {
    settle(api_.init(&comm_, peer_.size, id, peer_.rank), options.setup_deadline,
           "connect the GPUs by NCCL");
  } catch (...) {
    give_up();
    throw;
  }
  on_failure_ = options.on_failure;
}

NcclHandle::~NcclHandle() {
  give_up();
}

void NcclHandle::launch(const Call& call, const std::string& attempted) {
  // Others' lateness included: NCCL connects ranks for an algorithm when it is first used.
  settle(begin(call), collective_deadline_, attempted);
}

NcclStatus NcclHandle::begin(const Call& call) {
  const std::lock_guard lock(mutex_);
  if (failure_) throw Error(*failure_);
  return call(comm_);
}

void NcclHandle::settle(NcclStatus status, std::chrono::seconds patience,
                        const std::string& attempted) {
  const Clock::time_point begin = now_();
  for (int polls = 0; status == NcclStatus::in_progress; ++polls) {
    if (now_() - begin > patience) {
      fail(attempted, "not done within " + seconds_text(patience));
    }
    pause(polls);
    status = state();
  }
  if (status != NcclStatus::success) fail(attempted, text_of(status));
}

NcclStatus NcclHandle::state() {
  const std::lock_guard lock(mutex_);
  if (failure_) throw Error(*failure_);
  NcclStatus state = NcclStatus::success;
  const NcclStatus asked = api_.async_error(comm_, &state);
  return asked == NcclStatus::success ? state : asked;
}

std::optional<Error> NcclHandle::find_async_error() {
  const NcclStatus found = state();
  if (found == NcclStatus::success || found == NcclStatus::in_progress) return std::nullopt;
  return error("train over NCCL", text_of(found));
}

std::string NcclHandle::text_of(NcclStatus status) {
  const std::lock_guard lock(mutex_);
  return nccl_text(api_, status, comm_);
}

bool NcclHandle::keep_failure(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (failure_) return false;
  failure_ = error;
  return true;
}

void NcclHandle::check_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_) throw Error(*failure_);
}

void NcclHandle::fail(const std::string& attempted, const std::string& reason) {
  // Told first: giving up may never return.
  if (const Error failure = error(attempted, reason); keep_failure(failure) && on_failure_) {
    on_failure_(failure);
  }
  give_up();
  const std::lock_guard lock(mutex_);
  throw Error(failure_.value());
}

void NcclHandle::give_up() noexcept {
  NcclComm comm = nullptr;
  {
    const std::lock_guard lock(mutex_);
    comm = std::exchange(comm_, nullptr);
  }
  // Without the lock: it may take long, and the other thread is to see the failure meanwhile.
  if (comm != nullptr) api_.abort(comm);
}

void NcclHandle::finish() {
  const std::string attempted = "close NCCL";
  settle(begin(api_.finalize), collective_deadline_, attempted);
  const std::lock_guard lock(mutex_);
  const NcclStatus status = api_.destroy(std::exchange(comm_, nullptr));
  if (status != NcclStatus::success) throw error(attempted, api_.error_text(status));
}

}  // namespace lockstep
