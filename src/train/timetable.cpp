#include "lockstep/train/timetable.hpp"

#include <algorithm>
#include <cmath>

namespace lockstep {

void Timetable::start() {
  checkpoint_written();
  metrics_written();
}

bool Timetable::due(Interval& interval, double length) {
  if (length <= 0.0 || interval.said || seconds_() - interval.since < length) return false;
  interval.said = true;
  return true;
}

bool Timetable::checkpoint_due() {
  return due(checkpoint_, 60.0 * options_.save_every_minutes);
}

bool Timetable::metrics_due() {
  return due(metrics_, options_.metrics_interval);
}

bool Timetable::job_ends_soon(double longest_checkpoint_seconds) {
  const double left = seconds_to_job_end_();
  if (std::isinf(left)) return false;
  if (!first_known_) first_known_ = left;
  // Of a short job the margin leaves half to the training.
  const double margin = std::min(options_.stop_margin, *first_known_ / 2);
  return left < std::max(margin, 2 * longest_checkpoint_seconds);
}

}  // namespace lockstep
