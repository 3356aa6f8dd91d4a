#include "app/guard.hpp"

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

}  // namespace lockstep
