#pragma once

#include <exception>
#include <optional>

#include "lockstep/control/crash_report.hpp"
#include "lockstep/control/fault_injector.hpp"
#include "lockstep/control/heartbeat.hpp"
#include "lockstep/control/watchdog.hpp"
#include "lockstep/train/options.hpp"

#include "app/job.hpp"

namespace lockstep {

/// What watches over a rank from the start of its command to the end of MPI.
struct Guard {
  Heartbeat heartbeat;
  FaultInjector faults;
  std::optional<CrashReport> crash_report;
  std::optional<Watchdog> watchdog;  // after the heartbeat, which it lets go of

  /// A stage of what all ranks do together begins. Who does not come so far is a beat behind.
  void stage(Phase phase) {
    heartbeat.joining(phase, 0);
    faults.at(phase, 0);
    heartbeat.joining(phase, 0);
  }

  /// Step `step` of work that needs no other rank begins, and lasts as long as what is returned.
  [[nodiscard]] OwnWork own_work(Phase phase, std::int64_t step) {
    OwnWork work = heartbeat.own_work(phase, step);
    faults.at(phase, step);
    return work;
  }
};

/// Starts the watchdog and arms the faults that the options ask for. Collective.
void start_guard(const CommandContext& context, const TrainOptions& options, const Job& job);

/// Says on standard error on which rank and host something failed, and why.
void report_failure(const CommandContext& context, const std::exception& error);

/// Reports it and ends the job, from any thread, whoever waits for whom.
[[noreturn]] void end_job(const CommandContext& context, const std::exception& error);

/// For a failure that this rank alone knows of: with other ranks in the job, which may be waiting
/// for this one, reports it and ends all of them. Does nothing else.
void abort_if_others_wait(const CommandContext& context, const std::exception& error);

}  // namespace lockstep
