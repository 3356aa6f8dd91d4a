#include <chrono>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "lockstep/app/agreed.hpp"
#include "lockstep/base/version.hpp"
#include "lockstep/base/wall_clock.hpp"
#include "lockstep/ddp/replica_sync.hpp"
#include "lockstep/io/atomic_text.hpp"
#include "lockstep/train/train_state.hpp"
#include "lockstep/train/trainer.hpp"

#include "app/commands.hpp"
#include "app/job.hpp"
#include "app/provenance.hpp"
#include "app/resume.hpp"

namespace lockstep {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The configuration as a file, but for what is meant for one start only: read back, it must not
/// remove or resume a run that nobody spoke of.
std::string repeatable_ini(const Configuration& configuration) {
  std::istringstream lines(configuration.ini_text());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool once = line.starts_with("overwrite ") || line.starts_with("resume_from ") ||
                      line.starts_with("stop_after_epochs ");
    if (!once) text += line + "\n";
  }
  return text;
}

/// Makes the run's directory ready and opens the logs. Rank 0 alone.
void prepare_directory(const RunDirectory& directory, const RunSettings& settings, Log& log) {
  if (settings.train.overwrite) directory.remove_run();
  directory.create();
  std::filesystem::remove(directory.stop());
  write_text_atomically(directory.config(), repeatable_ini(settings.configuration()));
  log.open_files(directory.path());
}

void say_who_trains(const Job& job, const RunSettings& settings, const BatchPlan& plan,
                    const PrecisionChoice& precision, const Splits& data, const Model& model,
                    Log& log) {
  const Topology& topology = job.topology;
  log.info(fmt::format("Lockstep {}: {} rank{} on {} node{}, CPU, {}", version(),
                       topology.world_size, topology.world_size == 1 ? "" : "s",
                       topology.node_count, topology.node_count == 1 ? "" : "s",
                       job.threads_reason));
  log.info("precision: " + precision.reason);
  log.info(fmt::format(
      "data: {} with {} samples; validation: {}", data.training->name(), data.training->size(),
      data.validation
          ? fmt::format("{} with {} samples", data.validation->name(), data.validation->size())
          : "none"));
  log.info(fmt::format("model: {} parameters; global batch: {} samples in {} micro-batch{}",
                       parameter_count(model), plan.global_batch, plan.grad_accum_steps,
                       plan.grad_accum_steps == 1 ? "" : "es"));
  log.event("start", {{"lockstep_version", std::string(version())},
                      {"world_size", std::int64_t{topology.world_size}},
                      {"nodes", std::int64_t{topology.node_count}},
                      {"threads_per_rank", job.threads},
                      {"global_batch", plan.global_batch},
                      {"parameters", parameter_count(model)},
                      {"output_dir", settings.train.output_dir}});
}

}  // namespace

std::string train_help() {
  const RunSettings settings(builtin_components());
  return "usage: lockstep train [--config FILE] [--SETTING VALUE]...\n\n" +
         settings.configuration().help_text();
}

ExitCode train_command(const CommandContext& context) {
  Communicator& world = context.session.world();
  Log& log = context.log;
  RunSettings settings(builtin_components());
  const TrainOptions& options = settings.train;
  if (read_settings(context, settings.configuration())) return ExitCode::success;
  const Job job = join_job(context, options);
  const int rank = job.topology.rank;

  IoThread io;
  const std::unique_ptr<Communicator> io_comm = world.duplicate("files");
  const RunDirectory directory(options.output_dir);
  const auto resume_path =
      agreed(world, [&] { return checkpoint_to_resume(options, directory, io, *io_comm, log); });
  OpenCheckpoint reader;
  if (resume_path) {
    reader = agreed(world, [&] { return open_checkpoint(*resume_path, io, *io_comm); });
    agreed(world, [&] { adopt_configuration(*reader, settings.configuration()); });
    const Position position = read_position(*reader, io);
    if (position.epoch >= options.epochs) {
      log.info(fmt::format("the run in {} is finished: {} epochs, {} steps; nothing was changed",
                           directory.path().string(), position.epoch, position.global_step));
      return ExitCode::success;
    }
  }

  const auto seed = static_cast<std::uint64_t>(options.seed);
  const Splits data = agreed(world, [&] { return settings.dataset().build(io, *io_comm, seed); });
  const BatchPlan plan =
      agreed(world, [&] { return batch_plan(settings.batch, job.topology.world_size); });
  const PrecisionChoice precision = precision_of(world, options);
  const StoredSettings provenance =
      provenance_of(context, job, precision, fingerprint(*data.training));
  LoopState loop;
  auto [replica, schedule] = agreed(world, [&] {
    check_plan(data.training->size(), plan);
    loop.horizon = horizon_of(options.epochs, data.training->size(), plan);
    if (reader) check_same_run(*reader, provenance, rank == 0 ? &log : nullptr);
    return std::pair(
        std::make_unique<Replica>(build_model(settings, *data.training, precision.precision),
                                  settings.optimizer()),
        settings.schedule().build());
  });
  // All that the user may have got wrong has been checked: from here on files change.
  agreed(world, [&] {
    if (rank == 0) prepare_directory(directory, settings, log);
  });
  agreed(world, [&] { CheckpointStore(directory.checkpoints()).prepare(world); });

  broadcast_replica(replica->parameters(), replica->buffers(), world);
  GradientReducer reducer(replica->parameters(), replica->buffers(), world, settings.reducer);
  seed_generator(seed, rank);
  say_who_trains(job, settings, plan, precision, data, replica->model(), log);

  MetricsHistory history;
  if (reader) {
    restore_state(*reader, io, *io_comm, *replica, loop, history);
    reader.reset();
    log.info(fmt::format("resumed from {} at epoch {}, step {}", resume_path->string(),
                         loop.position.epoch + 1, loop.position.global_step));
  } else if (options.resume_from == "auto") {
    log.info("no checkpoint in " + directory.path().string() + " yet: starting from the beginning");
  }

  Loader training(*data.training, plan, SampleOrder::shuffled, seed, rank, job.topology.world_size,
                  settings.loader);
  const std::unique_ptr<Loader> validation =
      data.validation ? evaluation_loader(settings, *data.validation, job.topology) : nullptr;
  const std::vector<SettingsGroup> groups{{"/config", settings.configuration().stored()},
                                          {"/provenance", provenance}};
  context.stop.emplace();
  Trainer trainer({.options = options,
                   .plan = plan,
                   .replica = *replica,
                   .reducer = reducer,
                   .precision = precision.precision,
                   .schedule = *schedule,
                   .training = training,
                   .validation = validation.get(),
                   .comm = world,
                   .io_comm = *io_comm,
                   .io = io,
                   .directory = directory,
                   .groups = groups,
                   .stop = *context.stop,
                   .log = log,
                   .seconds = steady_seconds,
                   .first_step_done =
                       [&] {
                         log.event("first_step", {{"seconds_since_launch",
                                                   wall_seconds() - context.launch_time}});
                       }},
                  loop, std::move(history));
  const TrainEnd end = trainer.run();
  log.info("wrote " + directory.metrics().string() + ", " + directory.checkpoints().string() +
           "/, " + directory.config().string() + ", log.txt and log.jsonl");
  return end == TrainEnd::stopped_early ? ExitCode::resumable : ExitCode::success;
}

}  // namespace lockstep
