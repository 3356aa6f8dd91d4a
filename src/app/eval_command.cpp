#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/checkpoint_store.hpp"
#include "lockstep/train/run_directory.hpp"
#include "lockstep/train/train_state.hpp"
#include "lockstep/train/training_step.hpp"

#include "app/commands.hpp"
#include "app/job.hpp"
#include "app/resume.hpp"

namespace lockstep {
namespace {

/// The settings of a run, and which checkpoint to evaluate.
struct EvalSettings {
  EvalSettings() : run(builtin_components()) {
    run.configuration().add(
        "Evaluation", {field("checkpoint", checkpoint,
                             "checkpoint file, or a run's directory: its newest checkpoint")});
    run.configuration().add_check([this]() -> std::vector<std::string> {
      if (!checkpoint.empty()) return {};
      return {"checkpoint is not set: name a checkpoint file or a run's directory"};
    });
  }

  std::string checkpoint;
  RunSettings run;
};

/// Rank 0 looks what `given` is, since other nodes may see another file system. Collective.
std::filesystem::path chosen_checkpoint(const std::string& given, Communicator& world, IoThread& io,
                                        Communicator& io_comm) {
  std::error_code ignored;
  const bool is_run = std::filesystem::is_directory(given, ignored);
  if (broadcast_text(world, is_run ? "run" : "file", 0, "kind of checkpoint") == "file") {
    return given;
  }
  const CheckpointStore store(RunDirectory(given).checkpoints());
  const NewestCheckpoint newest = io.run([&] { return store.newest_valid(io_comm); });
  if (!newest.entry) {
    throw UsageError("evaluate the run in " + given, "it holds no checkpoint that can be read",
                     "name a run's directory or a checkpoint file with --checkpoint");
  }
  return newest.entry->path;
}

}  // namespace

std::string eval_help() {
  return "usage: lockstep eval --checkpoint PATH [--SETTING VALUE]...\n\n"
         "Settings that are not given are those the checkpoint's run had.\n\n" +
         EvalSettings().run.configuration().help_text();
}

ExitCode eval_command(const CommandContext& context) {
  Communicator& world = context.session.world();
  EvalSettings settings;
  Configuration& configuration = settings.run.configuration();
  if (read_settings(context, configuration)) return ExitCode::success;

  IoThread io;
  const std::unique_ptr<Communicator> io_comm = world.duplicate("files");
  const OpenCheckpoint reader = agreed(world, [&] {
    return open_checkpoint(chosen_checkpoint(settings.checkpoint, world, io, *io_comm), io,
                           *io_comm);
  });
  agreed(world, [&] {
    // What the run was, not how fast or where it ran.
    StoredSettings stored;
    for (const auto& setting : reader->settings("/config")) {
      const bool is_data = setting.first == "train_data" || setting.first == "val_data";
      if (is_data || !may_change_on_resume(setting.first)) stored.push_back(setting);
    }
    configuration.apply_stored(stored, reader->path().string());
    configuration.validate();
  });
  const Job job = join_job(context, settings.run.train);

  const Splits data = agreed(world, [&] {
    Splits splits = settings.run.dataset().build(
        io, *io_comm, static_cast<std::uint64_t>(settings.run.train.seed));
    if (!splits.validation) {
      throw UsageError("evaluate " + reader->path().string(), "there is no validation data",
                       "name some with --val_data or --val_fraction");
    }
    return splits;
  });
  const PrecisionChoice precision = precision_of(world, settings.run.train);
  const std::unique_ptr<Model> model =
      agreed(world, [&] { return build_model(settings.run, *data.training, precision.precision); });
  restore_model(*reader, io, *model, /*averaged=*/settings.run.train.ema_decay > 0.0);
  const std::unique_ptr<Loader> loader =
      evaluation_loader(settings.run, *data.validation, job.topology);
  const Tally tally = evaluate(*model, precision.precision, *loader, world);
  context.log.info(fmt::format("{} on {}: loss {:.4f}, accuracy {:.2f} % ({} of {} samples)",
                               reader->path().string(), data.validation->name(), tally.mean_loss(),
                               100.0 * tally.accuracy(), tally.correct, tally.samples));
  return ExitCode::success;
}

}  // namespace lockstep
