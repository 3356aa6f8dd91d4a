#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "lockstep/base/log.hpp"
#include "lockstep/train/progress.hpp"

namespace lockstep {

/// Tells people how long a training still takes: a line in the log after ten steps, and a progress
/// line on a terminal. Not collective.
class Outlook {
 public:
  /// Borrowed. `seconds`: a clock that only goes forward.
  Outlook(Log& log, const std::function<double()>& seconds) : log_(log), seconds_(seconds) {}

  /// After each optimizer step of this process; `steps_left` more are to come.
  void step_done(const LoopState& loop, double steps_left);

  /// The loss that the progress line shows from now on.
  void show_loss(double mean_loss) { loss_ = mean_loss; }

 private:
  Log& log_;
  const std::function<double()>& seconds_;
  std::int64_t steps_ = 0;
  double first_step_ = 0.0;  // when it was done
  double shown_ = 0.0;       // when the progress line was last renewed
  double loss_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace lockstep
