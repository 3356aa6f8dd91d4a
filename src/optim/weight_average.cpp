#include "lockstep/optim/weight_average.hpp"

#include <ATen/ops/full.h>

namespace lockstep {

WeightAverage::WeightAverage(const at::Tensor& weights, double decay)
    : weights_(weights), average_(weights.clone()), decay_(decay) {}

void WeightAverage::update(const at::Tensor& applied_steps, const at::Tensor& bad) {
  at::Tensor share = at::full({}, 1.0 - decay_, average_.options());  // of the new weights
  share.masked_fill_(applied_steps.le(1), 1.0);
  if (bad.defined()) share.masked_fill_(bad.ne(0), 0.0);
  average_.lerp_(weights_, share);
}

void WeightAverage::exchange() {
  const at::Tensor weights = weights_.clone();
  weights_.copy_(average_);
  average_.copy_(weights);
}

}  // namespace lockstep
