#include "app/guard.hpp"

#include <string>

#include "lockstep/base/explained.hpp"

#include "app/commands.hpp"

namespace lockstep {

void start_guard(const CommandContext& context, const TrainOptions& options, const Job& job) {
  Guard& guard = context.guard;
  guard.faults = FaultInjector(options.fault, job.topology.rank);
  if (options.hang_timeout <= 0.0) return;
  guard.watchdog.emplace(context.session.world(), job.topology,
                         WatchdogOptions{.hang_timeout = options.hang_timeout}, guard.heartbeat);
  const std::string& shortcoming = guard.watchdog->shortcoming();
  if (!shortcoming.empty() && job.topology.rank == 0) context.log.warn(shortcoming);
}

void report_failure(const CommandContext& context, const std::exception& error) {
  context.log.error("on " + MpiSession::host_name() + ": " + explained(error).what());
}

void end_job(const CommandContext& context, const std::exception& error) {
  report_failure(context, error);
  MpiSession::abort(static_cast<int>(ExitCode::failure));
}

void abort_if_others_wait(const CommandContext& context, const std::exception& error) {
  if (context.session.size() > 1) end_job(context, error);
}

}  // namespace lockstep
