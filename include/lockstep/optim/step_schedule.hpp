#pragma once

#include "lockstep/optim/timed_schedule.hpp"

namespace lockstep {

/// `lr`, times `lr_gamma` each `lr_step_size` epochs behind the warm-up:
///   lr * lr_gamma^floor(epochs / lr_step_size)
/// This is the closed form of torch.optim.lr_scheduler.StepLR, stepped after each epoch. With
/// lr_update = step and a step size that is not whole, the rate also falls within an epoch.
class StepScheduleBuilder : public TimedScheduleBuilder {
 public:
  /// lr, lr_step_size (30), lr_gamma (0.1), and ScheduleTiming's.
  FieldTable fields() override;
  std::unique_ptr<Schedule> build() const override;

 private:
  double step_size_ = 30.0;
  double gamma_ = 0.1;
};

}  // namespace lockstep
