#include "app/guard.hpp"

#include <new>
#include <string>

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
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  const std::string cause = no_memory ? "out of memory (std::bad_alloc)" : error.what();
  context.log.error("on " + MpiSession::host_name() + ": " + cause);
}

void abort_if_others_wait(const CommandContext& context, const std::exception& error) {
  if (context.session.size() == 1) return;
  report_failure(context, error);
  MpiSession::abort(static_cast<int>(ExitCode::failure));
}

}  // namespace lockstep
