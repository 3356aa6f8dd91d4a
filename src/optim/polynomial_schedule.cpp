#include "lockstep/optim/polynomial_schedule.hpp"

#include <cmath>

namespace lockstep {
namespace {

class PolynomialSchedule : public TimedSchedule {
 public:
  PolynomialSchedule(const ScheduleTiming& timing, double lr_min, double power)
      : TimedSchedule(timing), lr_min_(lr_min), power_(power) {}

 private:
  double decayed(const DecayTime& time) const override {
    return lr_min_ + (lr() - lr_min_) * std::pow(1.0 - time.fraction, power_);
  }

  double lr_min_;
  double power_;
};

}  // namespace

FieldTable PolynomialScheduleBuilder::fields() {
  FieldTable table = FallingScheduleBuilder::fields();
  table.push_back(field("lr_power", power_,
                        "polynomial: power of the time that is left; 1: a straight line",
                        above(0.0)));
  return table;
}

std::unique_ptr<Schedule> PolynomialScheduleBuilder::build() const {
  return std::make_unique<PolynomialSchedule>(timing_, lr_min_, power_);
}

}  // namespace lockstep
