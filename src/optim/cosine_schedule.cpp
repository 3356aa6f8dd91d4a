#include "lockstep/optim/cosine_schedule.hpp"

#include <cmath>
#include <numbers>

namespace lockstep {
namespace {

class CosineSchedule : public TimedSchedule {
 public:
  CosineSchedule(const ScheduleTiming& timing, double lr_min)
      : TimedSchedule(timing), lr_min_(lr_min) {}

 private:
  double decayed(const DecayTime& time) const override {
    return lr_min_ + (lr() - lr_min_) * (1.0 + std::cos(std::numbers::pi * time.fraction)) / 2.0;
  }

  double lr_min_;
};

}  // namespace

FieldTable CosineScheduleBuilder::fields() {
  return falling_fields(timing_, lr_min_);
}

std::vector<std::string> CosineScheduleBuilder::problems(std::int64_t horizon_epochs) const {
  return falling_problems(timing_, lr_min_, horizon_epochs);
}

std::unique_ptr<Schedule> CosineScheduleBuilder::build() const {
  return std::make_unique<CosineSchedule>(timing_, lr_min_);
}

}  // namespace lockstep
