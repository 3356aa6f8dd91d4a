#pragma once

#include "lockstep/optim/timed_schedule.hpp"

namespace lockstep {

/// Always `lr`, but for the warm-up.
class ConstantScheduleBuilder : public TimedScheduleBuilder {
 public:
  /// lr, and ScheduleTiming's.
  FieldTable fields() override;
  std::unique_ptr<Schedule> build() const override;
};

}  // namespace lockstep
