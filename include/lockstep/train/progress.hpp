#pragma once

#include <cstdint>

#include "lockstep/data/sampler.hpp"
#include "lockstep/optim/schedule.hpp"
#include "lockstep/train/tally.hpp"

namespace lockstep {

/// Where a run stands between two optimizer steps.
struct Position {
  std::int64_t epoch = 0;             ///< under way, or the next, from 0
  std::int64_t offset = 0;            ///< samples of its order consumed
  std::int64_t consumed_samples = 0;  ///< in all epochs
  std::int64_t global_step = 0;       ///< optimizer steps done, skipped ones included
};

/// Where a run is meant to end; fixed when it begins.
struct Horizon {
  std::int64_t epochs = 1;
  std::int64_t samples = 1;  ///< all epochs'
};

/// How large a run's steps are; fixed when it begins, and kept where it goes on with another number
/// of ranks.
struct StepSize {
  std::int64_t global_batch = 1;   ///< samples an optimizer step
  std::int64_t largest_share = 1;  ///< samples a rank has to hold at once, at most
};

/// This rank's measurements of the epoch under way.
struct EpochMeters {
  Tally tally;
  double seconds = 0.0;            ///< since it began, whatever for; up to the last checkpoint
  double train_seconds = 0.0;      ///< in optimizer steps
  double data_wait_seconds = 0.0;  ///< of these, spent waiting for batches
  double comm_wait_seconds = 0.0;  ///< and waiting for gradients of other ranks
};

/// What is carried from step to step beside weights and optimizer state. The tallies are this
/// rank's own.
struct LoopState {
  Position position;
  Horizon horizon;
  StepSize step_size;
  std::int64_t skipped_steps = 0;   ///< whose gradient was not finite
  std::int64_t skipped_in_row = 0;  ///< of these, those since the last applied step
  EpochMeters epoch;
  Tally interval_tally;           ///< since the last log point
  double learning_rate = 0.0;     ///< of the last step
  double interval_seconds = 0.0;  ///< this rank's, in steps since the last log point
};

Progress progress_of(const LoopState& state);

/// The horizon of `epochs` epochs over `dataset_size` samples.
Horizon horizon_of(std::int64_t epochs, std::int64_t dataset_size, const BatchPlan& plan);

/// The size of a plan's steps on `world` ranks.
StepSize step_size_of(const BatchPlan& plan, int world);

/// A plan on `world` ranks with steps of `size`: with at least `plan`'s accumulation steps, and as
/// many more as it takes that no rank has more samples at once than before.
BatchPlan resized(const BatchPlan& plan, const StepSize& size, int world);

/// This rank's samples of a window, over all its micro-batches.
std::int64_t rank_samples(const SampleRange& window, const BatchPlan& plan, int rank, int world);

}  // namespace lockstep
