#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lockstep/base/field.hpp"

namespace lockstep {

/// How far a run is before an optimizer step. The horizon is fixed when the run starts and restored
/// with it; what lies beyond counts as its end.
struct Progress {
  std::int64_t consumed_samples = 0;  ///< of all windows before this one, skipped steps included
  std::int64_t horizon_samples = 1;   ///< that the run was planned to consume
  std::int64_t epoch = 0;             ///< the one under way, from 0
  std::int64_t horizon_epochs = 1;    ///< that the run was planned to have
};

/// The learning rate as a pure function of progress: nothing to save, nothing to advance.
class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual double learning_rate(const Progress& progress) const = 0;
};

/// Holds a schedule's options and builds it.
class ScheduleBuilder {
 public:
  virtual ~ScheduleBuilder() = default;

  /// Refers to this builder, which must outlive the table.
  virtual FieldTable fields() = 0;
  /// Throws UsageError for options that do not go together.
  virtual std::unique_ptr<Schedule> build() const = 0;
};

/// Always `lr`.
class ConstantScheduleBuilder : public ScheduleBuilder {
 public:
  FieldTable fields() override;
  std::unique_ptr<Schedule> build() const override;

 private:
  double lr_ = 0.01;
};

/// From `lr` to `lr_min` along half a cosine, without restarts (Loshchilov and Hutter, 2017):
///   lr_min + (lr - lr_min) * (1 + cos(pi * t)) / 2
/// where t is min(1, consumed_samples / horizon_samples) with lr_update = step, and
/// min(1, epoch / horizon_epochs) with lr_update = epoch. This is the closed form of
/// torch.optim.lr_scheduler.CosineAnnealingLR, stepped after each optimizer step with T_max = the
/// number of steps (where all windows are of one size), or after each epoch with T_max = epochs.
class CosineScheduleBuilder : public ScheduleBuilder {
 public:
  /// lr, lr_min, lr_update (step or epoch).
  FieldTable fields() override;
  std::unique_ptr<Schedule> build() const override;

 private:
  double lr_ = 0.01;
  double lr_min_ = 0.0;
  std::string lr_update_ = "step";
};

}  // namespace lockstep
