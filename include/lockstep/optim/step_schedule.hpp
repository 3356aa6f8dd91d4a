#pragma once

#include "lockstep/optim/timed_schedule.hpp"

namespace lockstep {

/// `lr`, times `lr_gamma` each `lr_step_size` epochs behind the warm-up:
///   lr * lr_gamma^floor(epochs / lr_step_size)
/// This is the closed form of torch.optim.lr_scheduler.StepLR, stepped after each epoch. With
/// lr_update = step and a step size that is not whole, the rate also falls within an epoch.
class StepScheduleBuilder : public ScheduleBuilder {
 public:
  /// lr, lr_step_size (30), lr_gamma (0.1), and ScheduleTiming's.
  FieldTable fields() override;
  std::vector<std::string> problems(std::int64_t horizon_epochs) const override;
  std::unique_ptr<Schedule> build() const override;

 private:
  ScheduleTiming timing_;
  double step_size_ = 30.0;
  double gamma_ = 0.1;
};

}  // namespace lockstep
