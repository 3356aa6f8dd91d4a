#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lockstep/base/exit_code.hpp"
#include "lockstep/base/log.hpp"
#include "lockstep/comm/mpi_session.hpp"
#include "lockstep/config/configuration.hpp"
#include "lockstep/control/stop_request.hpp"

namespace lockstep {

struct Guard;
struct GpuSupport;
class StartTimes;

/// What every command is given.
struct CommandContext {
  MpiSession& session;
  Log& log;
  StopRequest& stop;  ///< from before MPI is there until it is gone
  Guard& guard;
  const GpuSupport& gpus;
  std::vector<std::string> arguments;  ///< behind the command's name
  std::map<std::string, std::string> environment;
  StartTimes& start;
  double launch_time = 0.0;  ///< seconds since 1970: LOCKSTEP_LAUNCH_TIME, or the program's start
};

/// Where any rank was asked to stop, throws AgreedError with ExitCode::resumable on all; `state`
/// says what became of the command: "before ...". Collective.
void end_if_interrupted(const CommandContext& context, const std::string& state);

/// Environment variables that begin with LOCKSTEP_ but are no settings.
std::vector<std::string> other_lockstep_variables();

/// The settings' sources in a context.
Sources sources_of(const CommandContext& context);

// The commands. All are collective; what they throw ends the job.
ExitCode train_command(const CommandContext& context);
ExitCode eval_command(const CommandContext& context);
ExitCode predict_command(const CommandContext& context);
ExitCode bench_command(const CommandContext& context);

/// Needs no MPI and is run by one process; the exit code is the one it documents.
ExitCode inspect_command(const std::vector<std::string>& arguments);

// What --help prints; they need no MPI.
std::string train_help();
std::string eval_help();
std::string predict_help();
std::string inspect_help();
std::string bench_help();

}  // namespace lockstep
