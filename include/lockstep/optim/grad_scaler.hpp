#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

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
  /// What moves from step to step is kept on `device`, for which nothing but state() waits.
  explicit GradScaler(const GradScalerOptions& options, at::Device device = at::kCPU);

  /// A float64 scalar on the device, which update() changes.
  const at::Tensor& scale() const { return scale_; }
  /// To be called once a step; `overflowed`, a float32 scalar on the device, is not 0 where the
  /// step had to be skipped.
  void update(const at::Tensor& overflowed);

  GradScalerState state() const;
  void restore(const GradScalerState& state);

 private:
  GradScalerOptions options_;
  at::Tensor scale_;           // float64
  at::Tensor growth_tracker_;  // int64
};

}  // namespace lockstep
