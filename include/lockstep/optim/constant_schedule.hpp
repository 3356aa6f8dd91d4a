#pragma once

#include "lockstep/optim/timed_schedule.hpp"

namespace lockstep {

/// Always `lr`, but for the warm-up.
class ConstantScheduleBuilder : public ScheduleBuilder {
 public:
  /// lr, and ScheduleTiming's.
  FieldTable fields() override;
  std::vector<std::string> problems(std::int64_t horizon_epochs) const override;
  std::unique_ptr<Schedule> build() const override;

 private:
  ScheduleTiming timing_;
};

}  // namespace lockstep
