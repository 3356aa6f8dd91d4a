#pragma once

#include "lockstep/optim/timed_schedule.hpp"

namespace lockstep {

/// From `lr` to `lr_min` along half a cosine, without restarts (Loshchilov and Hutter, 2017):
///   lr_min + (lr - lr_min) * (1 + cos(pi * t)) / 2
/// where t goes from 0 at the warm-up's end to 1 at the horizon. This is the closed form of
/// torch.optim.lr_scheduler.CosineAnnealingLR, stepped after each optimizer step with T_max = the
/// number of steps (where all windows are of one size), or after each epoch with T_max = epochs.
class CosineScheduleBuilder : public FallingScheduleBuilder {
 public:
  std::unique_ptr<Schedule> build() const override;
};

}  // namespace lockstep
