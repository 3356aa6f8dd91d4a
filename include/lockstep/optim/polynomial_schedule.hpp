#pragma once

#include "lockstep/optim/timed_schedule.hpp"

namespace lockstep {

/// From `lr` to `lr_min` along a power of the time that is left:
///   lr_min + (lr - lr_min) * (1 - t)^lr_power
/// where t goes from 0 at the warm-up's end to 1 at the horizon. With lr_min = 0 this is the closed
/// form of torch.optim.lr_scheduler.PolynomialLR with total_iters = the number of steps or epochs.
class PolynomialScheduleBuilder : public FallingScheduleBuilder {
 public:
  /// lr, lr_min, lr_power (1: a straight line), and ScheduleTiming's.
  FieldTable fields() override;
  std::unique_ptr<Schedule> build() const override;

 private:
  double power_ = 1.0;
};

}  // namespace lockstep
