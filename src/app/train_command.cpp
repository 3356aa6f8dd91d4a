#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "lockstep/base/text.hpp"
#include "lockstep/base/version.hpp"
#include "lockstep/base/wall_clock.hpp"
#include "lockstep/control/job_end.hpp"
#include "lockstep/ddp/replica_sync.hpp"
#include "lockstep/launch/slurm_environment.hpp"
#include "lockstep/train/train_state.hpp"
#include "lockstep/train/trainer.hpp"

#include "app/batch_memory.hpp"
#include "app/commands.hpp"
#include "app/guard.hpp"
#include "app/job.hpp"
#include "app/start_report.hpp"
#include "app/start_times.hpp"
#include "app/train_setup.hpp"

namespace lockstep {
namespace {

/// Changes in a resumed run what it was told to change.
void adapt(LoopState& loop, const TrainOptions& options, const TrainSetup& setup, int world) {
  if (options.on_resize == "keep_batch_size") loop.step_size = step_size_of(setup.plan, world);
  if (options.new_horizon) loop.horizon = setup.horizon;
  if (setup.other_data && loop.position.offset > 0) {
    loop.position.offset = 0;  // the order of other data is another one
    loop.epoch = {};
  }
}

/// Which ranks draw random numbers of their own that no checkpoint holds; empty: none.
std::string beginners_text(std::int64_t known, std::int64_t ranks) {
  if (known >= ranks) return "";
  const std::string who = known + 1 == ranks
                              ? fmt::format("rank {} begins its", known)
                              : fmt::format("ranks {} to {} begin their", known, ranks - 1);
  return fmt::format("{} random numbers anew, since the checkpoint is of {}", who,
                     counted(known, "rank"));
}

/// When the job ends, which rank 0 finds out for all.
JobEnd::Question question_for(const CommandContext& context, const TrainOptions& options) {
  if (context.session.rank() != 0 || options.stop_margin <= 0.0) return {};
  return job_end_question(SlurmEnvironment::from(context.environment));
}

/// Trains from the beginning or from where the run that is resumed stood. Collective.
ExitCode train(const CommandContext& context, const RunSettings& settings, const Job& job,
               Files& files, TrainSetup& setup, std::optional<ResumePoint> resume,
               Communicator& gradients) {
  Communicator& world = context.session.world();
  Log& log = context.log;
  const RunDirectory directory = run_directory(settings.train);
  const auto seed = static_cast<std::uint64_t>(settings.train.seed);
  Replica& replica = *setup.replica;
  broadcast_replica(replica.parameters(), replica.buffers(), gradients);
  GradientReducer reducer(replica.parameters(), replica.buffers(), gradients, settings.reducer);
  context.start.done("make replicas equal");
  seed_generators(seed, job.topology.rank, replica.device());

  LoopState loop;
  loop.horizon = setup.horizon;
  loop.step_size = step_size_of(setup.plan, job.topology.world_size);
  MetricsHistory history;
  if (resume) {
    const std::int64_t known =
        restore_state(*resume->reader, files.io, *files.comm, replica, loop, history);
    adapt(loop, settings.train, setup, job.topology.world_size);
    log.info(fmt::format("resumed from {} at epoch {}, step {}", resume->path.string(),
                         loop.position.epoch + 1, loop.position.global_step));
    const std::string differences = differences_of_machine(*resume->reader, setup.provenance);
    if (!differences.empty() && job.topology.rank == 0) {
      log.warn("the run goes on, but will not be bitwise what it would have been: " + differences);
    }
    const std::string beginners = beginners_text(known, world.size());
    if (!beginners.empty()) log.info(beginners);
    resume->reader.reset();
    context.start.done("read the checkpoint");
  } else if (settings.train.resume_from == "auto") {
    log.info("no checkpoint in " + directory.path().string() + " yet: starting from the beginning");
  }

  const ComputeBatchMemory memory(job.compute);
  Loader training(*setup.data.training, setup.plan, SampleOrder::shuffled, seed, job.topology.rank,
                  job.topology.world_size, settings.loader, setup.transform, memory.get());
  const std::unique_ptr<Loader> validation =
      setup.data.validation
          ? evaluation_loader(settings, *setup.data.validation, job.topology, memory.get())
          : nullptr;
  const std::vector<SettingsGroup> groups{{"/config", settings.configuration().stored()},
                                          {"/provenance", setup.provenance}};
  context.stop.heed();
  const JobEnd job_end(question_for(context, settings.train),
                       std::clamp(settings.train.stop_margin / 2, 1.0, 60.0));
  context.start.done("start the loaders");
  const auto first_step_done = [&] {
    context.start.done("first optimizer step");
    log.event("first_step", {{"seconds_since_launch", wall_seconds() - context.launch_time}});
    if (settings.train.profile_startup) context.start.report(world, log);
  };
  Trainer trainer(
      {.options = settings.train,
       .plan = setup.plan,
       .replica = replica,
       .reducer = reducer,
       .precision = setup.precision.precision,
       .schedule = *setup.schedule,
       .training = training,
       .training_samples = setup.data.training->size(),
       .validation = validation.get(),
       .comm = world,
       .io_comm = *files.comm,
       .io = files.io,
       .directory = directory,
       .groups = groups,
       .stop = context.stop,
       .heartbeat = context.guard.heartbeat,
       .faults = context.guard.faults,
       .failed_alone = [&](const std::exception& error) { abort_if_others_wait(context, error); },
       .seconds_to_job_end = [&] { return job_end.seconds() - wall_seconds(); },
       .log = log,
       .seconds = steady_seconds,
       .first_step_done = first_step_done},
      loop, std::move(history));
  const TrainEnd end = trainer.run();
  log.info("wrote " + directory.metrics().string() + ", " + directory.checkpoints().string() +
           "/, " + directory.config().string() + ", log.txt and log.jsonl");
  return end == TrainEnd::stopped_early ? ExitCode::resumable : ExitCode::success;
}

}  // namespace

std::string train_help() {
  const RunSettings settings(builtin_components());
  return "usage: lockstep train [--config FILE] [--SETTING VALUE]...\n\n" +
         settings.configuration().help_text();
}

ExitCode train_command(const CommandContext& context) {
  RunSettings settings(builtin_components());
  if (read_settings(context, settings.configuration())) return ExitCode::success;
  context.start.done("read the settings");
  const Job job = join_job(context, settings.train);
  if (job.topology.rank == 0) {
    for (const std::string& text : settings.idle_settings()) context.log.warn(text);
  }

  Communicator& world = context.session.world();
  start_guard(context, settings.train, job);
  Guard& guard = context.guard;
  guard.stage(Phase::setup);
  context.start.done("find ranks and devices");
  Files files{.comm = world.duplicate("files"),
              .io = IoThread([&guard] { guard.heartbeat.io_moved(); })};
  const RunDirectory directory = run_directory(settings.train);
  RunLock lock(context, directory);
  std::optional<ResumePoint> resume = find_resume_point(context, settings, files);
  if (resume && resume->loop.position.epoch >= settings.train.epochs) {
    context.log.info(fmt::format("the run in {} is finished: {}, {}; nothing was changed",
                                 directory.path().string(),
                                 counted(resume->loop.position.epoch, "epoch"),
                                 counted(resume->loop.position.global_step, "step")));
    return ExitCode::success;
  }
  end_if_interrupted(context, before_training);
  context.start.done("look for checkpoints");
  TrainSetup setup = set_up(context, settings, job, resume ? &*resume : nullptr, files);
  guard.stage(Phase::setup);
  end_if_interrupted(context, before_training);
  context.start.done("build the model");
  const Backend backend = connect_backend(context, settings.train, job.compute);
  context.start.done("connect the devices");
  prepare_directory(context, settings, directory, lock);
  report_start(job, backend.reason, settings, setup, context.log);
  context.start.done("prepare the directory");
  guard.stage(Phase::setup);
  const ExitCode code = train(context, settings, job, files, setup, std::move(resume),
                              backend.device ? *backend.device : world);
  if (backend.finish) backend.finish();
  return code;
}

}  // namespace lockstep
