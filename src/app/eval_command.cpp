#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "lockstep/app/agreed.hpp"
#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/checkpoint_store.hpp"
#include "lockstep/train/run_directory.hpp"
#include "lockstep/train/train_state.hpp"
#include "lockstep/train/training_step.hpp"

#include "app/commands.hpp"
#include "app/job.hpp"

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

std::filesystem::path chosen_checkpoint(const std::string& given, IoThread& io,
                                        Communicator& io_comm) {
  if (!std::filesystem::is_directory(given)) return given;
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
  std::unique_ptr<CheckpointReader> reader;
  agreed(world, [&] {
    const std::filesystem::path path = chosen_checkpoint(settings.checkpoint, io, *io_comm);
    reader = io.run([&] { return std::make_unique<CheckpointReader>(path, *io_comm); });
  });
  agreed(world, [&] {
    configuration.apply_stored(reader->settings("/config"), reader->path().string());
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
  const PrecisionChoice precision = precision_of(settings.run.train);
  const std::unique_ptr<Model> model =
      agreed(world, [&] { return build_model(settings.run, *data.training, precision.precision); });
  restore_model(*reader, io, *model);
  const std::unique_ptr<Loader> loader =
      evaluation_loader(settings.run, *data.validation, job.topology);
  const Tally tally = evaluate(*model, precision.precision, *loader, world);
  context.log.info(fmt::format("{} on {}: loss {:.4f}, accuracy {:.2f} % ({} of {} samples)",
                               reader->path().string(), data.validation->name(), tally.mean_loss(),
                               100.0 * tally.accuracy(), tally.correct, tally.samples));
  io.run([&] { reader.reset(); });
  return ExitCode::success;
}

}  // namespace lockstep
