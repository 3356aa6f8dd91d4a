#pragma once

#include <cstdint>

#include "lockstep/data/loader.hpp"
#include "lockstep/ddp/gradient_reducer.hpp"
#include "lockstep/train/precision.hpp"
#include "lockstep/train/replica.hpp"
#include "lockstep/train/tally.hpp"

namespace lockstep {

/// One optimizer step: a window's micro-batches through the model, gradients summed over all ranks,
/// one update. The arguments are borrowed. All functions but tally_batch() are to be called in step
/// by all ranks.
class TrainingStep {
 public:
  TrainingStep(Replica& replica, GradientReducer& reducer, const Precision& precision)
      : replica_(replica), reducer_(reducer), precision_(precision) {}

  /// `rank_samples`: this rank's of the window's `window_samples`.
  void begin_window(std::int64_t rank_samples, std::int64_t window_samples);

  /// Forward and backward pass of this rank's share, which may be empty. Returns its local tally:
  /// the losses are those of the weights before the update.
  Tally run_micro_batch(const Batch& batch);

  /// Waits for the summed gradients and updates the weights.
  void finish_window(double learning_rate);

 private:
  Replica& replica_;
  GradientReducer& reducer_;
  Precision precision_;
};

/// The model's scores of a batch with samples: [samples, classes], in the parameters' dtype. Not
/// collective.
at::Tensor logits_of(Model& model, const Precision& precision, const Batch& batch);

/// Tallies this rank's `loader` until its epoch is over, in evaluation mode and without gradients,
/// and adds up all ranks' tallies. Leaves model and statistics as they were. Collective.
Tally evaluate(Model& model, const Precision& precision, Loader& loader, Communicator& comm);

}  // namespace lockstep
