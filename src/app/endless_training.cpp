#include "app/endless_training.hpp"

#include <optional>
#include <utility>

#include "lockstep/base/wall_clock.hpp"
#include "lockstep/ddp/replica_sync.hpp"
#include "lockstep/train/train_state.hpp"

namespace lockstep {
namespace {

// So small that any number of steps leaves numbers that can be computed with.
constexpr double learning_rate = 1e-6;

}  // namespace

EndlessTraining::EndlessTraining(const RunSettings& settings, const Job& job, TrainSetup& setup,
                                 Communicator& gradients, ReductionObserver observer)
    : job_(job),
      setup_(setup),
      memory_(job.compute),
      reducer_(setup.replica->parameters(), setup.replica->buffers(), gradients, settings.reducer,
               std::move(observer)),
      step_(*setup.replica, reducer_, setup.precision.precision,
            {.max_grad_norm = settings.train.max_grad_norm,
             .label_smoothing = settings.train.label_smoothing,
             .seconds = steady_seconds}),
      loader_(*setup.data.training, setup.plan, SampleOrder::shuffled,
              static_cast<std::uint64_t>(settings.train.seed), job.topology.rank,
              job.topology.world_size, settings.loader, setup.transform, memory_.get()),
      batches_(loader_) {
  broadcast_replica(setup.replica->parameters(), setup.replica->buffers(), gradients);
}

BlockTimes EndlessTraining::run(std::int64_t steps) {
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

StepResult EndlessTraining::run_step(BlockTimes& times) {
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

Batch EndlessTraining::next_batch(BlockTimes& times) {
  const double began = steady_seconds();
  Batch batch = batches_.next();
  times.data_seconds += steady_seconds() - began;
  return batch;
}

}  // namespace lockstep
