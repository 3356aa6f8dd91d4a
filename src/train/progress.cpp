#include "lockstep/train/progress.hpp"

#include "lockstep/base/product.hpp"

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

std::int64_t rank_samples(const SampleRange& window, const BatchPlan& plan, int rank, int world) {
  std::int64_t samples = 0;
  for (const MicroBatch& micro_batch : micro_batches(window, plan)) {
    samples += share_of(micro_batch.range, rank, world).samples;
  }
  return samples;
}

}  // namespace lockstep
