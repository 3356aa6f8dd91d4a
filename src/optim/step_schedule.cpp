#include "lockstep/optim/step_schedule.hpp"

#include <cmath>

namespace lockstep {
namespace {

// Epochs are quotients: where one is an exact number of step sizes, rounding must not put it just
// below. A sample is far more than this part of a step size.
constexpr double rounding = 1e-9;

class StepSchedule : public TimedSchedule {
 public:
  StepSchedule(const ScheduleTiming& timing, double step_size, double gamma)
      : TimedSchedule(timing), step_size_(step_size), gamma_(gamma) {}

 private:
  double decayed(const DecayTime& time) const override {
    return lr() * std::pow(gamma_, std::floor(time.epochs / step_size_ + rounding));
  }

  double step_size_;
  double gamma_;
};

}  // namespace

FieldTable StepScheduleBuilder::fields() {
  return fields_around({field("lr_step_size", step_size_,
                              "step: epochs between falls of the learning rate", above(0.0)),
                        field("lr_gamma", gamma_, "step: factor of each fall",
                              Range{.low = 0.0, .high = 1.0, .low_included = false})});
}

std::unique_ptr<Schedule> StepScheduleBuilder::build() const {
  return std::make_unique<StepSchedule>(timing_, step_size_, gamma_);
}

}  // namespace lockstep
