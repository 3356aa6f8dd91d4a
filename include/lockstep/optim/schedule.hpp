#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  /// What is wrong with the options together in a run of `horizon_epochs`, one text for each thing.
  virtual std::vector<std::string> problems(std::int64_t horizon_epochs) const = 0;
  virtual std::unique_ptr<Schedule> build() const = 0;
};

}  // namespace lockstep
