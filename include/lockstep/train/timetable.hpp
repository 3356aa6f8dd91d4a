#pragma once

#include <functional>
#include <optional>

#include "lockstep/train/options.hpp"

namespace lockstep {

/// What is due by the clock of the rank that asks: files after an interval, a stop before the job's
/// end. Ranks are to agree on what one of them finds due. Not collective.
class Timetable {
 public:
  /// All borrowed. `seconds`: a clock that only goes forward; `seconds_to_job_end`: infinite where
  /// it is not known.
  Timetable(const TrainOptions& options, const std::function<double()>& seconds,
            const std::function<double()>& seconds_to_job_end)
      : options_(options), seconds_(seconds), seconds_to_job_end_(seconds_to_job_end) {}

  /// The intervals begin.
  void start();
  void checkpoint_written() { checkpoint_ = {.since = seconds_()}; }
  void metrics_written() { metrics_ = {.since = seconds_()}; }

  /// Whether save_every_minutes or metrics_interval has passed; true once an interval.
  bool checkpoint_due();
  bool metrics_due();

  /// Whether the job ends within stop_margin, or within twice the time of the longest checkpoint.
  bool job_ends_soon(double longest_checkpoint_seconds);

 private:
  struct Interval {
    double since = 0.0;
    bool said = false;
  };
  bool due(Interval& interval, double length);

  const TrainOptions& options_;
  const std::function<double()>& seconds_;
  const std::function<double()>& seconds_to_job_end_;
  Interval checkpoint_;
  Interval metrics_;
  std::optional<double> first_known_;  // seconds to the job's end
};

}  // namespace lockstep
