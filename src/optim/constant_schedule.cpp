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
  FieldTable table{lr_field(timing_)};
  for (Field& entry : timing_fields(timing_)) table.push_back(std::move(entry));
  return table;
}

std::vector<std::string> ConstantScheduleBuilder::problems(std::int64_t horizon_epochs) const {
  return lockstep::problems(timing_, horizon_epochs);
}

std::unique_ptr<Schedule> ConstantScheduleBuilder::build() const {
  return std::make_unique<ConstantSchedule>(timing_);
}

}  // namespace lockstep
