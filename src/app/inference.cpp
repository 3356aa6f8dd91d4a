#include "app/inference.hpp"

#include <string_view>
#include <system_error>
#include <utility>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/train/run_directory.hpp"
#include "lockstep/train/train_state.hpp"

#include "app/guard.hpp"
#include "app/provenance.hpp"
#include "app/resume.hpp"
#include "app/setting_names.hpp"

namespace lockstep {
namespace {

/// Rank 0 looks what `given` is, since other nodes may see another file system. Collective.
OpenCheckpoint chosen_checkpoint(const std::string& given, Communicator& world, Files& files,
                                 Log& log) {
  constexpr const char* remedy = "name a run's directory or a checkpoint file with --checkpoint";
  std::error_code ignored;
  const bool is_run = std::filesystem::is_directory(given, ignored);
  const bool is_file = std::filesystem::is_regular_file(given, ignored);
  const std::string kind = broadcast_text(world,
                                          is_run    ? "run"
                                          : is_file ? "file"
                                                    : "nothing",
                                          0, "kind of checkpoint");
  if (kind == "file") return open_checkpoint(given, files.io, *files.comm);
  if (kind == "nothing") {
    throw UsageError("take the checkpoint " + given, "there is no such file or directory", remedy);
  }
  // A run's directory, or one of checkpoints.
  const RunDirectory run(given);
  const bool has_own = std::filesystem::is_directory(run.checkpoints(), ignored);
  const std::string where =
      broadcast_text(world, has_own ? run.checkpoints().string() : given, 0, "checkpoints");
  OpenCheckpoint newest = open_newest_checkpoint(where, files.io, *files.comm, log);
  if (newest) return newest;
  throw UsageError("take a checkpoint of the run in " + given, "it holds no checkpoint", remedy);
}

/// The settings that say what the run was, not how fast or where it ran.
StoredSettings settings_of_run(const CheckpointReader& reader) {
  StoredSettings stored;
  for (const auto& setting : reader.settings("/config")) {
    const bool is_data = setting.first == "train_data" || setting.first == "val_data";
    if (is_data || !may_change_on_resume(setting.first)) stored.push_back(setting);
  }
  return stored;
}

/// What the network was trained on, whatever the training data is by now.
void normalize_as_trained(Splits& data, TransformOptions options, const CheckpointReader& reader) {
  for (const auto& [name, value] : reader.settings("/provenance")) {
    if (name == provenance_normalization && options.normalize == "data") options.normalize = value;
  }
  const ImageTransform transform = make_transform(options, *data.training);
  data.training = normalized(std::move(data.training), transform);
  data.validation = normalized(std::move(data.validation), transform);
}

}  // namespace

InferenceSettings::InferenceSettings(const std::string& group)
    : run(builtin_components()), group_(group) {
  run.configuration().add(
      group, {field("checkpoint", checkpoint,
                    "what must be given: a checkpoint file, or a directory of checkpoints or of a "
                    "run, of which the newest is taken")});
  run.configuration().add_check([this]() -> std::vector<std::string> {
    if (!checkpoint.empty()) return {};
    return {"checkpoint is not set: name a checkpoint file or a run's directory"};
  });
}

std::string InferenceSettings::help_text() const {
  using namespace setting_names;
  const auto shows = [&](std::string_view group, std::string_view name) {
    return group == group_ || contains(used_in_inference, name) ||
           (group == "Data" && !contains(only_in_training, name));
  };
  return "Settings that are not given are those the checkpoint's run had. Those of `lockstep "
         "train`\n"
         "that are not listed here are accepted, for configuration files that serve both.\n\n" +
         run.configuration().help_text({.first_group = group_, .shows = shows});
}

TrainedRun load_trained_run(const CommandContext& context, InferenceSettings& settings,
                            Files& files) {
  Communicator& world = context.session.world();
  TrainedRun run;
  // By settings that no checkpoint decides.
  run.job = join_job(context, settings.run.train);
  start_guard(context, settings.run.train, run.job);
  context.guard.stage(Phase::setup);
  const OpenCheckpoint reader = agreed(
      world, [&] { return chosen_checkpoint(settings.checkpoint, world, files, context.log); });
  const std::vector<std::string> unknown = agreed(world, [&] {
    Configuration& configuration = settings.run.configuration();
    auto names = configuration.apply_stored(settings_of_run(*reader), reader->path().string());
    configuration.validate();
    return names;
  });
  if (!unknown.empty() && world.rank() == 0) {
    context.log.warn(reader->path().string() + ": " + unknown_settings_text(*reader, unknown));
  }
  run.checkpoint = reader->path();
  set_arithmetic(settings.run.train, run.job.compute);
  run.data = agreed(world, [&] {
    return settings.run.dataset().build(files.io, *files.comm,
                                        static_cast<std::uint64_t>(settings.run.train.seed));
  });
  end_if_interrupted(context, before_result);
  run.precision = precision_of(world, settings.run.train, run.job.compute);
  run.provenance = provenance_of(context, run.job, run.precision, run.data.fingerprint);
  agreed(world, [&] { normalize_as_trained(run.data, settings.run.transform, *reader); });
  run.model = agreed(world, [&] {
    return build_model(settings.run, *run.data.training, run.precision.precision,
                       run.job.compute.device);
  });
  const bool averaged = settings.run.train.ema_decay > 0.0;
  agreed(world, [&] {
    const std::string misfit = model_misfit(*reader, *run.model, averaged);
    if (misfit.empty()) return;
    throw UsageError("use the network of " + reader->path().string(), misfit,
                     "leave the network's settings to the checkpoint");
  });
  restore_model(*reader, files.io, *run.model, averaged);
  context.guard.stage(Phase::evaluate);
  return run;
}

}  // namespace lockstep
