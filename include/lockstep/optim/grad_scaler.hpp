#pragma once

#include <cstdint>

#include "lockstep/base/field.hpp"

namespace lockstep {

struct GradScalerOptions {
  double initial_scale = 65536.0;
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;  ///< steps without overflow before the scale grows
  double smallest_scale = 1.0;          ///< where backing off ends
};
/// loss_scale, loss_scale_growth_interval, loss_scale_min.
FieldTable fields(GradScalerOptions& options);

/// What a scaler carries from step to step.
struct GradScalerState {
  double scale = 1.0;
  std::int64_t growth_tracker = 0;  ///< steps without overflow since the scale last changed
};

/// Dynamic loss scaling for float16, whose smallest values gradients fall below: losses are
/// multiplied by scale() and gradients divided by it. The rule is torch.amp.GradScaler's but for
/// the floor: a step whose gradients overflowed multiplies the scale by backoff_factor; after
/// growth_interval steps without, it is multiplied by growth_factor, unless float32 could not hold
/// the result. All ranks see the same reduced gradients and so keep the same scale. Source:
/// Micikevicius et al., Mixed precision training, 2018.
class GradScaler {
 public:
  explicit GradScaler(const GradScalerOptions& options);

  double scale() const { return state_.scale; }
  /// To be called once a step, with whether it had to be skipped.
  void update(bool overflowed);

  const GradScalerState& state() const { return state_; }
  void restore(const GradScalerState& state) { state_ = state; }

 private:
  GradScalerOptions options_;
  GradScalerState state_;
};

}  // namespace lockstep
