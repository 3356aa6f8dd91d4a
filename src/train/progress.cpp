#include "lockstep/train/progress.hpp"

#include "lockstep/base/product.hpp"
#include "lockstep/base/shares.hpp"

namespace lockstep {

Progress progress_of(const LoopState& state) {
  return {.consumed_samples = state.position.consumed_samples,
          .horizon_samples = state.horizon.samples,
          .epoch = state.position.epoch,
          .horizon_epochs = state.horizon.epochs};
}

Horizon horizon_of(std::int64_t epochs, std::int64_t dataset_size, const BatchPlan& plan) {
  return {.epochs = epochs, .samples = product(epochs, samples_in_epoch(dataset_size, plan))};
}

StepSize step_size_of(const BatchPlan& plan, int world) {
  return {.global_batch = plan.global_batch,
          .largest_share =
              ceil_div(ceil_div(plan.global_batch, plan.grad_accum_steps), std::int64_t{world})};
}

BatchPlan resized(const BatchPlan& plan, const StepSize& size, int world) {
  BatchPlan fitting = plan;
  fitting.global_batch = size.global_batch;
  while (step_size_of(fitting, world).largest_share > size.largest_share) {
    ++fitting.grad_accum_steps;
  }
  return fitting;
}

std::int64_t rank_samples(const SampleRange& window, const BatchPlan& plan, int rank, int world) {
  std::int64_t samples = 0;
  for (const MicroBatch& micro_batch : micro_batches(window, plan)) {
    samples += share_of(micro_batch.range, rank, world).samples;
  }
  return samples;
}

}  // namespace lockstep
