#pragma once

#include <string>
#include <vector>

#include "lockstep/optim/schedule.hpp"

namespace lockstep {

/// What all schedules have in common: their highest rate, when it moves, and a linear warm-up.
struct ScheduleTiming {
  double lr = 0.01;
  std::string lr_update = "step";  ///< or "epoch"
  double warmup_epochs = 0.0;      ///< need not be whole
  double warmup_start = 0.01;      ///< the first rate, as a part of lr
};

/// Builds a TimedSchedule: holds the timing's options and checks them.
class TimedScheduleBuilder : public ScheduleBuilder {
 public:
  std::vector<std::string> problems(std::int64_t horizon_epochs) const override;

 protected:
  /// lr, the schedule's own options, then lr_update, warmup_epochs and warmup_start.
  FieldTable fields_around(FieldTable own);

  ScheduleTiming timing_;
};

/// The same for schedules that end at a rate of their own, lr_min.
class FallingScheduleBuilder : public TimedScheduleBuilder {
 public:
  FieldTable fields() override;
  std::vector<std::string> problems(std::int64_t horizon_epochs) const override;

 protected:
  double lr_min_ = 0.0;
};

/// How far a run is behind its warm-up.
struct DecayTime {
  double epochs = 0.0;
  double fraction = 0.0;  ///< of the way from the warm-up's end to the horizon; 1 beyond it
};

/// A schedule whose time is the samples consumed (lr_update = step) or the epochs finished
/// (lr_update = epoch), and which begins with a linear warm-up of `warmup_epochs` epochs:
///   lr * (warmup_start + (1 - warmup_start) * time / warm-up)
/// Epochs are counted in samples, consumed_samples * horizon_epochs / horizon_samples, so that the
/// warm-up is as long whatever the batch size. What follows fills the rest of the horizon: together
/// they are torch.optim.lr_scheduler.SequentialLR of LinearLR(start_factor = warmup_start) and the
/// schedule. Source of the warm-up: Goyal et al., 2017.
class TimedSchedule : public Schedule {
 public:
  explicit TimedSchedule(ScheduleTiming timing);
  double learning_rate(const Progress& progress) const final;

 protected:
  /// The highest rate.
  double lr() const { return timing_.lr; }

 private:
  virtual double decayed(const DecayTime& time) const = 0;

  ScheduleTiming timing_;
};

}  // namespace lockstep
