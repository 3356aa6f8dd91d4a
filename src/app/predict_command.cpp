#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/train/predictions.hpp"

#include "app/batch_memory.hpp"
#include "app/commands.hpp"
#include "app/guard.hpp"
#include "app/inference.hpp"
#include "app/job.hpp"

namespace lockstep {
namespace {

struct PredictSettings {
  PredictSettings() : inference("Prediction") {
    inference.run.configuration().add(
        "Prediction",
        {field("split", split, "which part of the data", {"validation", "training"}),
         field("predictions", predictions, "HDF5 file to write; replaced where it exists")});
  }

  std::string split = "validation";
  std::string predictions = "predictions.h5";
  InferenceSettings inference;
};

const Dataset& chosen_split(const TrainedRun& run, const std::string& split) {
  if (split == "training") return *run.data.training;
  if (run.data.validation) return *run.data.validation;
  throw UsageError("predict with " + run.checkpoint.string(), "there is no validation data",
                   "name some with --val_data or --val_fraction, or give --split training");
}

void check_target(const std::filesystem::path& path) {
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code ignored;
  std::string reason;
  if (std::filesystem::is_directory(path, ignored)) {
    reason = "that is a directory";
  } else if (!std::filesystem::is_directory(directory, ignored)) {
    reason = "there is no directory " + directory.string();
  } else if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    reason = errno_text(errno);
  } else {
    return;
  }
  throw UsageError("write predictions to " + path.string(), reason, "--predictions FILE");
}

}  // namespace

std::string predict_help() {
  return "usage: lockstep predict --checkpoint PATH [--predictions FILE] [--SETTING VALUE]...\n\n"
         "Writes the scores of every sample, in the order of the data set.\n" +
         PredictSettings().inference.help_text();
}

ExitCode predict_command(const CommandContext& context) {
  Communicator& world = context.session.world();
  PredictSettings settings;
  if (read_settings(context, settings.inference.run.configuration())) return ExitCode::success;
  const std::filesystem::path path = settings.predictions;
  agreed(world, [&] {
    if (world.rank() == 0) check_target(path);
  });

  Guard& guard = context.guard;
  Files files{.comm = world.duplicate("files"),
              .io = IoThread([&guard] { guard.heartbeat.io_moved(); })};
  const TrainedRun run = load_trained_run(context, settings.inference, files);
  const Dataset* dataset = agreed(world, [&] { return &chosen_split(run, settings.split); });
  const ComputeBatchMemory memory(run.job.compute);
  const std::int64_t batch_size = settings.inference.run.batch.batch_size;
  const auto share = [&](int rank) { return balanced_share(dataset->size(), rank, world.size()); };
  std::int64_t batches_done = 0;
  const Predictions mine =
      predict_rows(*run.model, run.precision.precision, *dataset, share(world.rank()), batch_size,
                   settings.inference.run.loader,
                   {.own_work = [&] { return guard.own_work(Phase::evaluate, ++batches_done); },
                    .stop = [&] { return context.stop.signal() != 0; }},
                   memory.get());
  // The watchdogs expect as many beats of all ranks, of which the first has the largest share.
  const std::int64_t most_batches = ceil_div(share(0).count, batch_size);
  while (batches_done < most_batches) {
    static_cast<void>(guard.own_work(Phase::evaluate, ++batches_done));
  }
  guard.stage(Phase::finish);
  end_if_interrupted(context, before_result);
  const std::vector<SettingsGroup> groups{
      {"/config", settings.inference.run.configuration().stored()},
      {"/provenance", run.provenance}};
  const std::vector<Attribute> attributes{{"checkpoint", run.checkpoint.string()},
                                          {"data", dataset->name()}};
  files.io.run([&] {
    return write_array_file(
        path, predictions_format(),
        {.arrays = arrays_of(mine, dataset->size()), .attributes = attributes, .groups = groups},
        *files.comm, {.moved = [&guard] { guard.heartbeat.io_moved(); }});
  });
  context.log.info(fmt::format("wrote {}: scores of {} samples of {} by {}", path.string(),
                               dataset->size(), dataset->name(), run.checkpoint.string()));
  return ExitCode::success;
}

}  // namespace lockstep
