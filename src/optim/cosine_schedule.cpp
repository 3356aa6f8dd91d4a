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

std::unique_ptr<Schedule> CosineScheduleBuilder::build() const {
  return std::make_unique<CosineSchedule>(timing_, lr_min_);
}

}  // namespace lockstep
