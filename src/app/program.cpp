#include "lockstep/app/program.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include <c10/util/Logging.h>

#include "lockstep/base/explained.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/base/version.hpp"
#include "lockstep/base/wall_clock.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/control/stop_request.hpp"

#include "app/commands.hpp"
#include "app/freed_memory.hpp"
#include "app/guard.hpp"
#include "app/start_times.hpp"
#include "app/torch_error.hpp"

namespace lockstep {
namespace {

struct Command {
  const char* name;
  const char* summary;
  ExitCode (*run)(const CommandContext&);  ///< null where the command needs no MPI
  std::string (*help)();
  ExitCode (*run_alone)(const std::vector<std::string>& arguments) = nullptr;
};

constexpr std::array commands{
    Command{"train", "train a network, validate it, write checkpoints and metrics", train_command,
            train_help},
    Command{"eval", "evaluate a checkpoint on validation data", eval_command, eval_help},
    Command{"predict", "write a checkpoint's scores of every sample to a file", predict_command,
            predict_help},
    Command{"inspect", "describe a file that Lockstep writes or reads; --verify looks for damage",
            nullptr, inspect_help, inspect_command},
    Command{"bench", "measure training steps, messages, data loading or checkpoints", bench_command,
            bench_help},
};

std::string overview() {
  std::string text = "Lockstep " + std::string(version()) +
                     ": data-parallel training of image classifiers\n\n"
                     "usage: lockstep COMMAND [--config FILE] [--SETTING VALUE]...\n"
                     "       lockstep inspect FILE [--verify] [--hashes]\n"
                     "       lockstep bench WHAT [--SETTING VALUE]...\n"
                     "       mpiexec -n RANKS lockstep COMMAND ...   (or srun)\n\ncommands:\n";
  for (const Command& command : commands) {
    text += "  " + std::string(command.name) +
            std::string(8 - std::string(command.name).size(), ' ') + command.summary + "\n";
  }
  return text +
         "\n`lockstep COMMAND --help` lists the command's settings; `lockstep --version` prints "
         "the "
         "version.\n"
         "exit codes: 0 done, 1 failed, 2 wrong usage, 75 stopped early, start again to go on\n";
}

const Command& find_command(const std::vector<std::string>& arguments) {
  const std::string& name = arguments[0];
  if (name.starts_with('-')) {
    throw UsageError(
        "run a command", "it is missing in front of " + name,
        "lockstep train " + joined(arguments, " ") + "; lockstep --help lists all commands");
  }
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  throw UsageError("run a command", unknown_name_text("command", name, names),
                   "lockstep --help lists them");
}

bool asks_for_help(const std::string& argument) {
  return argument == "--help" || argument == "-h";
}

// Answers that need neither MPI nor a job.
std::optional<ExitCode> answer_at_once(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    std::fputs(overview().c_str(), stderr);
    return ExitCode::usage;
  }
  if (asks_for_help(arguments[0]) || arguments[0] == "help") {
    std::fputs(overview().c_str(), stdout);
    return ExitCode::success;
  }
  if (arguments[0] == "--version") {
    std::printf("lockstep %s\n", std::string(version()).c_str());
    return ExitCode::success;
  }
  const Command& command = find_command(arguments);
  if (std::any_of(arguments.begin() + 1, arguments.end(), asks_for_help)) {
    std::fputs(command.help().c_str(), stdout);
    return ExitCode::success;
  }
  if (command.run_alone != nullptr) {
    return command.run_alone({arguments.begin() + 1, arguments.end()});
  }
  return std::nullopt;
}

double launch_time(const std::map<std::string, std::string>& environment) {
  double seconds = wall_seconds() - process_age_seconds();
  if (const auto given = environment.find("LOCKSTEP_LAUNCH_TIME"); given != environment.end()) {
    const std::string& text = given->second;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
  }
  return seconds;
}

ExitCode run_in_session(const CommandContext& context, const Command& command) {
  try {
    return command.run(context);
  } catch (const AgreedError& error) {
    if (context.session.rank() == 0) std::fprintf(stderr, "lockstep: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    abort_if_others_wait(context, error);
    report_failure(context, error);
    return ExitCode::failure;
  }
}

}  // namespace

int run_program(int argc, char** argv, const std::map<std::string, std::string>& environment,
                const GpuSupport& gpus) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (const std::optional<ExitCode> code = answer_at_once(arguments)) {
      return static_cast<int>(*code);
    }
  } catch (const UsageError& error) {
    std::fprintf(stderr, "lockstep: %s\n", error.what());
    return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lockstep: %s\n", error.what());
    return static_cast<int>(ExitCode::failure);
  }
  keep_freed_memory(environment);
  const double launched = launch_time(environment);
  StartTimes start(launched);
  // LibTorch would add the stack's addresses to each of its errors; they tell a user nothing.
  c10::SetStackTraceFetcher([] { return std::string(); });
  explain_errors_by(explain_torch_error);
  try {
    StopRequest stop;
    MpiSession session(argc, argv);
    start.done("connect the ranks");
    Log log(session.rank());
    Guard guard;
    guard.crash_report.emplace(session.rank(), MpiSession::host_name(), guard.heartbeat);
    const ExitCode code = run_in_session({.session = session,
                                          .log = log,
                                          .stop = stop,
                                          .guard = guard,
                                          .gpus = gpus,
                                          .arguments = {arguments.begin() + 1, arguments.end()},
                                          .environment = environment,
                                          .start = start,
                                          .launch_time = launched},
                                         find_command(arguments));
    // All ranks are leaving with this code. srun tells the others to stop as soon as the first one
    // is gone with a code that is not 0; they are to leave with theirs all the same.
    StopRequest::ignore_signals();
    guard.heartbeat.joining(Phase::finish, 0);
    session.finish();
    return static_cast<int>(code);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lockstep: %s\n", explained(error).what());
    return static_cast<int>(ExitCode::failure);
  }
}

}  // namespace lockstep
