#include "app/train_setup.hpp"

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/atomic_text.hpp"
#include "lockstep/io/checkpoint_store.hpp"
#include "lockstep/train/train_state.hpp"

#include "app/guard.hpp"
#include "app/provenance.hpp"
#include "app/setting_names.hpp"
#include "app/start_times.hpp"

namespace lockstep {
namespace {

/// The configuration as a file, but for what is meant for one start only.
std::string repeatable_ini(const Configuration& configuration) {
  std::istringstream lines(configuration.ini_text());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view name = std::string_view(line).substr(0, line.find(' '));
    if (!setting_names::contains(setting_names::for_one_start, name)) text += line + "\n";
  }
  return text;
}

/// A run that goes on keeps the size of its steps, unless it is told otherwise.
BatchPlan plan_of(const RunSettings& settings, const ResumePoint* resume, int world) {
  const BatchPlan plan = batch_plan(settings.batch, world);
  if (resume == nullptr || settings.train.on_resize == "keep_batch_size") return plan;
  return resized(plan, resume->loop.step_size, world);
}

}  // namespace

std::optional<ResumePoint> find_resume_point(const CommandContext& context, RunSettings& settings,
                                             Files& files) {
  Communicator& world = context.session.world();
  const RunDirectory directory = run_directory(settings.train);
  ResumePoint point;
  point.reader = agreed(world, [&] {
    return checkpoint_to_resume(settings.train, directory, files.io, *files.comm, context.log);
  });
  if (!point.reader) return std::nullopt;
  point.path = point.reader->path();
  agreed(world, [&] { adopt_configuration(*point.reader, settings); });
  point.loop = read_loop_state(*point.reader, files.io);
  return point;
}

TrainSetup set_up(const CommandContext& context, const RunSettings& settings, const Job& job,
                  const ResumePoint* resume, Files& files) {
  Communicator& world = context.session.world();
  const auto seed = static_cast<std::uint64_t>(settings.train.seed);
  set_arithmetic(settings.train, job.compute);  // also as the run to be resumed had it
  agreed(world, [&] { settings.check_training(); });
  TrainSetup setup;
  setup.data = agreed(world, [&] { return settings.dataset().build(files.io, *files.comm, seed); });
  end_if_interrupted(context, before_training);
  context.start.done("read the data");
  setup.transform =
      agreed(world, [&] { return make_transform(settings.transform, *setup.data.training); });
  setup.data.validation = normalized(std::move(setup.data.validation), setup.transform);
  setup.precision = precision_of(world, settings.train, job.compute);
  setup.provenance = provenance_of(context, job, setup.precision, setup.data.fingerprint);
  setup.provenance.emplace_back(provenance_normalization, setup.transform.normalization_text());
  agreed(world, [&] {
    if (settings.train.keep_best != "none" && !setup.data.validation) {
      throw UsageError("keep the best checkpoint by " + settings.train.keep_best,
                       "there is no validation data",
                       "name some with --val_data or --val_fraction, or leave keep_best out");
    }
    setup.plan = plan_of(settings, resume, job.topology.world_size);
    const std::int64_t samples = setup.data.training->size();
    check_plan(samples, setup.plan);
    setup.horizon = horizon_of(settings.train.epochs, samples, setup.plan);
    if (resume != nullptr) {
      setup.other_data = has_other_data(*resume->reader, setup.provenance, settings.train);
    }
    setup.replica = std::make_unique<Replica>(
        build_model(settings, *setup.data.training, setup.precision.precision, job.compute.device),
        settings.optimizer(), settings.replica_options(setup.precision.precision));
    setup.provenance.emplace_back(
        provenance_convolutions,
        convolutions_of(setup.replica->model(), setup.precision.precision, job.compute));
    setup.schedule = settings.schedule().build();
  });
  return setup;
}

void prepare_directory(const CommandContext& context, const RunSettings& settings,
                       const RunDirectory& directory, RunLock& lock) {
  Communicator& world = context.session.world();
  agreed(world, [&] {
    if (world.rank() != 0) return;
    directory.create();
    lock.take(context, directory);
    if (settings.train.overwrite) directory.remove_run();
    directory.create();
    if (settings.train.enable_profiling) {
      std::filesystem::create_directories(directory.trace(0).parent_path());
    }
    std::filesystem::remove(directory.stop());
    write_text_atomically(directory.config(), repeatable_ini(settings.configuration()));
    context.log.open_files(directory.path());
    if (context.guard.watchdog) context.guard.watchdog->also_report_to(directory.log());
  });
  CheckpointStore(directory.checkpoints()).prepare(world);
}

}  // namespace lockstep
