#include <memory>
#include <string>

#include <fmt/format.h>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/train/evaluation.hpp"

#include "app/batch_memory.hpp"
#include "app/commands.hpp"
#include "app/guard.hpp"
#include "app/inference.hpp"
#include "app/job.hpp"

namespace lockstep {
namespace {

constexpr const char* group = "Evaluation";

}  // namespace

std::string eval_help() {
  return "usage: lockstep eval --checkpoint PATH [--SETTING VALUE]...\n\n"
         "Prints loss and accuracy on the validation data.\n" +
         InferenceSettings(group).help_text();
}

ExitCode eval_command(const CommandContext& context) {
  Communicator& world = context.session.world();
  InferenceSettings settings(group);
  if (read_settings(context, settings.run.configuration())) return ExitCode::success;

  Guard& guard = context.guard;
  Files files{.comm = world.duplicate("files"),
              .io = IoThread([&guard] { guard.heartbeat.io_moved(); })};
  const TrainedRun run = load_trained_run(context, settings, files);
  agreed(world, [&] {
    if (run.data.validation) return;
    throw UsageError("evaluate " + run.checkpoint.string(), "there is no validation data",
                     "name some with --val_data or --val_fraction");
  });
  const ComputeBatchMemory memory(run.job.compute);
  const std::unique_ptr<Loader> loader =
      evaluation_loader(settings.run, *run.data.validation, run.job.topology, memory.get());
  std::int64_t batches = 0;
  const Tally tally = evaluate(
                          *run.model, run.precision.precision, *loader, world,
                          [&] { return guard.own_work(Phase::evaluate, ++batches); },
                          [&] { return context.stop.signal() != 0; })
                          .tally;
  guard.stage(Phase::finish);
  end_if_interrupted(context, before_result);
  context.log.info(fmt::format("{} on {}: loss {:.4f}, accuracy {:.2f} % ({} of {} samples)",
                               run.checkpoint.string(), run.data.validation->name(),
                               tally.mean_loss(), 100.0 * tally.accuracy(), tally.correct,
                               tally.samples));
  return ExitCode::success;
}

}  // namespace lockstep
