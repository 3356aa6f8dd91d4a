#include "app/step_bench.hpp"

#include <optional>
#include <utility>

#include "lockstep/base/wall_clock.hpp"
#include "lockstep/bench/endless_batches.hpp"
#include "lockstep/ddp/replica_sync.hpp"
#include "lockstep/train/train_state.hpp"
#include "lockstep/train/training_step.hpp"

#include "app/batch_memory.hpp"
#include "app/compute.hpp"

namespace lockstep {
namespace {

/// What this rank did in a block.
struct BlockTimes {
  std::int64_t images = 0;  ///< of all ranks
  double seconds = 0.0;
  double data_seconds = 0.0;
  double gradient_seconds = 0.0;
  double hidden_part = 0.0;  ///< of the gradients' bytes
};

/// A training without end and without records.
class EndlessTraining {
 public:
  EndlessTraining(const RunSettings& settings, const Job& job, TrainSetup& setup,
                  Communicator& gradients)
      : job_(job),
        setup_(setup),
        memory_(job.compute),
        reducer_(setup.replica->parameters(), setup.replica->buffers(), gradients,
                 settings.reducer),
        step_(*setup.replica, reducer_, setup.precision.precision,
              {.max_grad_norm = settings.train.max_grad_norm,
               .label_smoothing = settings.train.label_smoothing,
               .seconds = steady_seconds}),
        loader_(*setup.data.training, setup.plan, SampleOrder::shuffled,
                static_cast<std::uint64_t>(settings.train.seed), job.topology.rank,
                job.topology.world_size, settings.loader, setup.transform, memory_.get()) {
    broadcast_replica(setup.replica->parameters(), setup.replica->buffers(), gradients);
  }

  BlockTimes run(std::int64_t steps) {
    BlockTimes times;
    const std::int64_t reduced_before = reducer_.bytes_reduced();
    const std::int64_t hidden_before = reducer_.bytes_hidden();
    const double began = steady_seconds();
    std::optional<StepResult> last;
    for (std::int64_t i = 0; i < steps; ++i) last = run_step(times);
    static_cast<void>(report_of(*last));  // waits for the device
    times.seconds = steady_seconds() - began;
    times.hidden_part = static_cast<double>(reducer_.bytes_hidden() - hidden_before) /
                        static_cast<double>(reducer_.bytes_reduced() - reduced_before);
    return times;
  }

 private:
  StepResult run_step(BlockTimes& times) {
    Batch batch = next_batch(times);
    const SampleRange window = batch.micro_batch.window;
    const Topology& topology = job_.topology;
    step_.begin_window(rank_samples(window, setup_.plan, topology.rank, topology.world_size),
                       window.samples);
    while (true) {
      const bool last = batch.micro_batch.last_of_window;
      step_.run_micro_batch(batch);
      loader_.recycle(std::move(batch));
      if (last) break;
      batch = next_batch(times);
    }
    StepResult result = step_.finish_window(learning_rate);
    times.images += window.samples;
    times.gradient_seconds += result.wait_seconds;
    return result;
  }

  Batch next_batch(BlockTimes& times) {
    const double began = steady_seconds();
    Batch batch = batches_.next();
    times.data_seconds += steady_seconds() - began;
    return batch;
  }

  // So small that any number of steps leaves numbers that can be computed with.
  static constexpr double learning_rate = 1e-6;

  const Job& job_;
  TrainSetup& setup_;
  ComputeBatchMemory memory_;
  GradientReducer reducer_;
  TrainingStep step_;
  Loader loader_;
  EndlessBatches batches_{loader_};
};

/// What the blocks of all ranks showed.
class StepFigures {
 public:
  StepFigures(Communicator& world, std::int64_t steps) : world_(world), steps_(steps) {}

  /// Collective.
  void add(const BlockTimes& times) {
    const double seconds = of_ranks(times.seconds, ReduceOp::max);
    const double ms_a_step = 1e3 / static_cast<double>(steps_);
    rate_.blocks.push_back(static_cast<double>(times.images) / seconds);
    step_.blocks.push_back(ms_a_step * seconds);
    data_.blocks.push_back(ms_a_step * of_ranks(times.data_seconds, ReduceOp::max));
    gradients_.blocks.push_back(ms_a_step * of_ranks(times.gradient_seconds, ReduceOp::min));
    hidden_.blocks.push_back(of_ranks(100.0 * times.hidden_part, ReduceOp::min));
  }

  std::vector<Figure> get(bool on_gpu) const {
    std::vector<Figure> figures{rate_, step_, data_, gradients_};
    if (!on_gpu) figures.push_back(hidden_);
    return figures;
  }

 private:
  double of_ranks(double value, ReduceOp op) const {
    return all_reduce_value(world_, value, op, "figures of a block");
  }

  Communicator& world_;
  std::int64_t steps_;  // a block
  Figure rate_{.name = "training", .unit = "images/s", .remark = "all ranks"};
  Figure step_{.name = "step", .unit = "ms"};
  Figure data_{.name = "wait for data", .unit = "ms a step", .remark = "slowest rank"};
  Figure gradients_{
      .name = "wait for gradients", .unit = "ms a step", .remark = "rank that waits least"};
  Figure hidden_{.name = "gradients reduced by the end of the backward pass", .unit = "%"};
};

}  // namespace

std::vector<Figure> bench_step(const CommandContext& context, const RunSettings& settings,
                               const Job& job, Files& files, std::int64_t blocks,
                               std::int64_t steps, const BeforeBlock& before_block) {
  Communicator& world = context.session.world();
  TrainSetup setup = set_up(context, settings, job, /*resume=*/nullptr, files);
  const Backend backend = connect_backend(context, settings.train, job.compute);
  StepFigures figures(world, steps);
  {
    EndlessTraining training(settings, job, setup, backend.device ? *backend.device : world);
    training.run(2);  // the first step is slower than others
    for (std::int64_t block = 0; block < blocks; ++block) {
      before_block();
      figures.add(training.run(steps));
    }
  }
  if (backend.finish) backend.finish();
  return figures.get(job.compute.on_gpu());
}

}  // namespace lockstep
