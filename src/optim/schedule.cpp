#include "lockstep/optim/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

class ConstantSchedule : public Schedule {
 public:
  explicit ConstantSchedule(double lr) : lr_(lr) {}

  double learning_rate(const Progress& /*progress*/) const override { return lr_; }

 private:
  double lr_;
};

double part(std::int64_t done, std::int64_t horizon) {
  if (done >= horizon) return 1.0;  // also where the horizon is empty
  return static_cast<double>(done) / static_cast<double>(horizon);
}

class CosineSchedule : public Schedule {
 public:
  CosineSchedule(double lr, double lr_min, bool by_epoch)
      : lr_(lr), lr_min_(lr_min), by_epoch_(by_epoch) {}

  double learning_rate(const Progress& progress) const override {
    const double t = by_epoch_ ? part(progress.epoch, progress.horizon_epochs)
                               : part(progress.consumed_samples, progress.horizon_samples);
    return lr_min_ + (lr_ - lr_min_) * (1.0 + std::cos(std::numbers::pi * t)) / 2.0;
  }

 private:
  double lr_;
  double lr_min_;
  bool by_epoch_;
};

Field lr_field(double& lr) {
  return field("lr", lr, "learning rate at the start", at_least(0.0));
}

}  // namespace

FieldTable ConstantScheduleBuilder::fields() {
  return {lr_field(lr_)};
}

std::unique_ptr<Schedule> ConstantScheduleBuilder::build() const {
  return std::make_unique<ConstantSchedule>(lr_);
}

FieldTable CosineScheduleBuilder::fields() {
  return {lr_field(lr_),
          field("lr_min", lr_min_, "learning rate the cosine ends at", at_least(0.0)),
          field("lr_update", lr_update_, "when the learning rate moves", {"step", "epoch"})};
}

std::unique_ptr<Schedule> CosineScheduleBuilder::build() const {
  if (lr_min_ > lr_) {
    throw UsageError("choose the cosine schedule's options",
                     "lr_min " + shortest_text(lr_min_) + " is above lr " + shortest_text(lr_),
                     "a decay ends below where it starts: lower lr_min or raise lr");
  }
  return std::make_unique<CosineSchedule>(lr_, lr_min_, lr_update_ == "epoch");
}

}  // namespace lockstep
