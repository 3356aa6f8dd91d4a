#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "cuda/launch.hpp"
#include "cuda/nccl_handle.hpp"

namespace lockstep {

/// A thread that looks at a communicator's errors and at the deadline of what is in flight, so that
/// nobody waits for ever. At the first failure it reports, makes NCCL give up, and ends.
class NcclWatch {
 public:
  /// `handle` and `api` are borrowed.
  NcclWatch(NcclHandle& handle, const CudaApi& api, NcclOptions options);
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;
  ~NcclWatch();

  /// What was launched; in the order of launching.
  void add(std::shared_ptr<const Launch> launch);

 private:
  using Clock = std::chrono::steady_clock;

  void run(const std::stop_token& stop);
  void look();
  void check_deadline();
  std::shared_ptr<const Launch> oldest_in_flight();
  void end_by(const Error& failure);

  NcclHandle& handle_;
  const CudaApi& api_;
  NcclOptions options_;
  std::shared_ptr<const Launch> timed_;  ///< what begun_ belongs to
  std::optional<Clock::time_point> begun_;

  std::mutex mutex_;  ///< of in_flight_
  std::condition_variable_any wake_;
  std::deque<std::shared_ptr<const Launch>> in_flight_;

  std::jthread thread_;  ///< last: ends before what it uses
};

}  // namespace lockstep
