#pragma once

#include <ATen/core/Tensor.h>

namespace lockstep {

/// Exponential moving average of flat weights, as torch.optim.swa_utils.AveragedModel with
/// get_ema_multi_avg_fn(decay): after the first optimizer step it is the weights, after each
/// further one
///   average <- decay * average + (1 - decay) * weights
class WeightAverage {
 public:
  /// `weights` is 1-d; borrowed as a handle: update() reads what is in it then.
  WeightAverage(const at::Tensor& weights, double decay);

  /// To be called after each step; `applied_steps` (an int64 scalar) counts those that were
  /// applied, this one included. Where `bad` (a float32 scalar) is not 0 it was not, and nothing
  /// changes. Both are on the weights' device, for which this does not wait.
  void update(const at::Tensor& applied_steps, const at::Tensor& bad = {});

  /// Like the weights; the average's own: writing to it restores the state.
  const at::Tensor& values() const { return average_; }

  /// Swaps weights and average. Twice is as if nothing had been done, to the bit.
  void exchange();

 private:
  at::Tensor weights_;
  at::Tensor average_;
  double decay_;
};

}  // namespace lockstep
