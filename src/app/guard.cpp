#include "app/guard.hpp"

#include <new>
#include <string>

#include <c10/util/Exception.h>

#include "app/commands.hpp"

namespace lockstep {
namespace {

std::string cause_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return "out of memory (std::bad_alloc)";
  }
  if (const auto* full = dynamic_cast<const c10::OutOfMemoryError*>(&error)) {
    const std::string text = full->what_without_backtrace();
    return "the GPU's memory is full: " + text.substr(0, text.find('\n')) +
           "\n  try: a lower batch_size with more grad_accum_steps, which is the same training, "
           "mixed precision (use_amp), or a narrower model";
  }
  return error.what();
}

}  // namespace

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
  context.log.error("on " + MpiSession::host_name() + ": " + cause_of(error));
}

void end_job(const CommandContext& context, const std::exception& error) {
  report_failure(context, error);
  MpiSession::abort(static_cast<int>(ExitCode::failure));
}

void abort_if_others_wait(const CommandContext& context, const std::exception& error) {
  if (context.session.size() > 1) end_job(context, error);
}

}  // namespace lockstep
