#pragma once

#include <cstdint>

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

  /// To be called after each applied step; `applied_steps` counts them, this one included.
  void update(std::int64_t applied_steps);

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
