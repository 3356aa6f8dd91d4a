#include "lockstep/optim/constant_schedule.hpp"

namespace lockstep {
namespace {

class ConstantSchedule : public TimedSchedule {
 public:
  using TimedSchedule::TimedSchedule;

 private:
  double decayed(const DecayTime& /*time*/) const override { return lr(); }
};

}  // namespace

FieldTable ConstantScheduleBuilder::fields() {
  return fields_around({});
}

std::unique_ptr<Schedule> ConstantScheduleBuilder::build() const {
  return std::make_unique<ConstantSchedule>(timing_);
}

}  // namespace lockstep
