#pragma once

#include <cstdint>

#include "lockstep/bench/endless_batches.hpp"
#include "lockstep/ddp/gradient_reducer.hpp"
#include "lockstep/train/training_step.hpp"

#include "app/batch_memory.hpp"
#include "app/job.hpp"
#include "app/train_setup.hpp"

namespace lockstep {

/// What this rank did in a block of steps.
struct BlockTimes {
  std::int64_t images = 0;  ///< of all ranks
  double seconds = 0.0;
  double data_seconds = 0.0;
  double gradient_seconds = 0.0;  ///< waiting for gradients
  double hidden_part = 0.0;       ///< of the gradients' bytes
};

/// A training without end and without records, for measurements.
class EndlessTraining {
 public:
  /// Gradients go by `gradients`. The arguments are borrowed. Collective.
  EndlessTraining(const RunSettings& settings, const Job& job, TrainSetup& setup,
                  Communicator& gradients, ReductionObserver observer = {});

  /// Does so many steps, one or more. Collective.
  BlockTimes run(std::int64_t steps);

  const GradientReducer& reducer() const { return reducer_; }

 private:
  StepResult run_step(BlockTimes& times);
  Batch next_batch(BlockTimes& times);

  const Job& job_;
  TrainSetup& setup_;
  ComputeBatchMemory memory_;
  GradientReducer reducer_;
  TrainingStep step_;
  Loader loader_;
  EndlessBatches batches_;
};

}  // namespace lockstep
