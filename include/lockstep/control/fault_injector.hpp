#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lockstep/control/heartbeat.hpp"

namespace lockstep {

enum class FaultKind {
  exception,    ///< throws Error
  bad_alloc,    ///< throws std::bad_alloc
  segv,         ///< writes to memory that may not be written
  abort,        ///< std::abort
  kill,         ///< SIGKILL to itself
  stop,         ///< SIGSTOP to itself: all threads stand still
  stall,        ///< the main thread stands still, the others run
  write_error,  ///< from here on every write to a file fails (RLIMIT_FSIZE 0)
  nan           ///< samples of the step are NaN
};

/// What is to go wrong, where.
struct Fault {
  FaultKind kind = FaultKind::exception;
  Phase phase = Phase::step;
  int rank = 0;
  std::int64_t step = 0;  ///< the first time that the phase is reached at this step or later
};

/// "rank=1,phase=step,step=5,kind=throw": kind and phase must be there; rank and step are 0 where
/// they are not. Throws UsageError.
Fault parse_fault(std::string_view text);

/// Lets one thing go wrong on purpose, once, to show what becomes of the job.
class FaultInjector {
 public:
  /// Nothing goes wrong.
  FaultInjector() = default;
  /// `spec`: as parse_fault() takes it, or "none".
  FaultInjector(const std::string& spec, int rank);

  /// Before a phase's work at a step; may throw or not come back.
  void at(Phase phase, std::int64_t step) {
    if (armed_) strike(phase, step);
  }

  /// Whether the samples of this step are to be NaN; true once.
  bool spoils(std::int64_t step);

 private:
  void strike(Phase phase, std::int64_t step);

  bool armed_ = false;
  Fault fault_;
};

}  // namespace lockstep
