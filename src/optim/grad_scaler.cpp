#include "lockstep/optim/grad_scaler.hpp"

#include <algorithm>
#include <limits>

namespace lockstep {

FieldTable fields(GradScalerOptions& options) {
  return {field("loss_scale", options.initial_scale, "float16: first factor of losses", above(0.0)),
          field("loss_scale_growth_interval", options.growth_interval,
                "float16: steps without overflow before the loss scale doubles", at_least(1)),
          field("loss_scale_min", options.smallest_scale,
                "float16: where halving the loss scale after overflows ends", above(0.0))};
}

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), state_{.scale = options.initial_scale, .growth_tracker = 0} {}

void GradScaler::update(bool overflowed) {
  if (overflowed) {
    // A scale that began below the floor stays where it is.
    const double floor = std::min(options_.smallest_scale, state_.scale);
    state_.scale = std::max(state_.scale * options_.backoff_factor, floor);
    state_.growth_tracker = 0;
    return;
  }
  ++state_.growth_tracker;
  if (state_.growth_tracker < options_.growth_interval) return;
  state_.growth_tracker = 0;
  const double grown = state_.scale * options_.growth_factor;
  if (grown <= static_cast<double>(std::numeric_limits<float>::max())) state_.scale = grown;
}

}  // namespace lockstep
