#include "lockstep/optim/weight_average.hpp"

namespace lockstep {

WeightAverage::WeightAverage(const at::Tensor& weights, double decay)
    : weights_(weights), average_(weights.clone()), decay_(decay) {}

void WeightAverage::update(std::int64_t applied_steps) {
  if (applied_steps <= 1) {
    average_.copy_(weights_);
  } else {
    average_.lerp_(weights_, 1.0 - decay_);
  }
}

void WeightAverage::exchange() {
  const at::Tensor weights = weights_.clone();
  weights_.copy_(average_);
  average_.copy_(weights);
}

}  // namespace lockstep
