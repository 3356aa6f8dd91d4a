#include "app/step_bench.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "lockstep/ddp/replica_sync.hpp"
#include "lockstep/train/train_state.hpp"
#include "lockstep/train/training_step.hpp"

#include "app/batch_memory.hpp"
#include "app/compute.hpp"

namespace lockstep {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What this rank did in a block.
struct BlockTimes {
  std::int64_t images = 0;  ///< of all ranks
  double seconds = 0.0;
  double data_seconds = 0.0;
  double gradient_seconds = 0.0;
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
    loader_.start_epoch(epoch_);
  }

  BlockTimes run(std::int64_t steps) {
    BlockTimes times;
    const double began = steady_seconds();
    std::optional<StepResult> last;
    for (std::int64_t i = 0; i < steps; ++i) last = run_step(times);
    static_cast<void>(report_of(*last));  // waits for the device
    times.seconds = steady_seconds() - began;
    return times;
  }

  const GradientReducer& reducer() const { return reducer_; }

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
    std::optional<Batch> batch = loader_.next();
    if (!batch) {
      loader_.start_epoch(++epoch_);
      batch = loader_.next();
    }
    times.data_seconds += steady_seconds() - began;
    return *std::move(batch);
  }

  // So small that any number of steps leaves numbers that can be computed with.
  static constexpr double learning_rate = 1e-6;

  const Job& job_;
  TrainSetup& setup_;
  ComputeBatchMemory memory_;
  GradientReducer reducer_;
  TrainingStep step_;
  Loader loader_;
  std::int64_t epoch_ = 0;
};

}  // namespace

std::vector<Figure> bench_step(const CommandContext& context, const RunSettings& settings,
                               const Job& job, Files& files, std::int64_t blocks,
                               std::int64_t steps, const BeforeBlock& before_block) {
  Communicator& world = context.session.world();
  TrainSetup setup = set_up(context, settings, job, /*resume=*/nullptr, files);
  const Backend backend = connect_backend(context, settings.train, job.compute);
  Figure rate{.name = "training", .unit = "images/s", .remark = "all ranks"};
  Figure step{.name = "step", .unit = "ms"};
  Figure data{.name = "wait for data", .unit = "ms a step", .remark = "slowest rank"};
  Figure gradients{
      .name = "wait for gradients", .unit = "ms a step", .remark = "rank that waits least"};
  Figure hidden{.name = "gradients reduced by the end of the backward pass", .unit = "%"};
  {
    EndlessTraining training(settings, job, setup, backend.device ? *backend.device : world);
    training.run(2);  // the first step is slower than others
    for (std::int64_t block = 0; block < blocks; ++block) {
      before_block();
      const std::int64_t reduced = training.reducer().bytes_reduced();
      const std::int64_t in_time = training.reducer().bytes_hidden();
      const BlockTimes times = training.run(steps);
      const auto of_ranks = [&](double value, ReduceOp op) {
        return all_reduce_value(world, value, op, "figures of a block");
      };
      const double seconds = of_ranks(times.seconds, ReduceOp::max);
      const double ms_a_step = 1e3 / static_cast<double>(steps);
      rate.blocks.push_back(static_cast<double>(times.images) / seconds);
      step.blocks.push_back(ms_a_step * seconds);
      data.blocks.push_back(ms_a_step * of_ranks(times.data_seconds, ReduceOp::max));
      gradients.blocks.push_back(ms_a_step * of_ranks(times.gradient_seconds, ReduceOp::min));
      hidden.blocks.push_back(
          of_ranks(100.0 * static_cast<double>(training.reducer().bytes_hidden() - in_time) /
                       static_cast<double>(training.reducer().bytes_reduced() - reduced),
                   ReduceOp::min));
    }
  }
  if (backend.finish) backend.finish();
  std::vector<Figure> figures{rate, step, data, gradients};
  if (!job.compute.on_gpu()) figures.push_back(hidden);
  return figures;
}

}  // namespace lockstep
