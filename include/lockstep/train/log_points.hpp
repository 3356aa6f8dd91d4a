#pragma once

#include <optional>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/recorder.hpp"
#include "lockstep/train/tally.hpp"
#include "lockstep/train/training_step.hpp"

namespace lockstep {

/// The log points of a training. A point's sums over all ranks travel while the next step is
/// computed, so it is recorded a step later. start() and finish() are to be called by all ranks in
/// the same order.
class LogPoints {
 public:
  /// Borrowed.
  LogPoints(Communicator& comm, Recorder& recorder) : comm_(comm), recorder_(recorder) {}

  /// Of the interval since the last point that `loop` tells, whose last step gave `report`. The
  /// last point must be finished.
  void start(const LoopState& loop, const StepReport& report, double elapsed_seconds);

  /// Records the point that was started last, if it has not been. Returns its mean loss.
  std::optional<double> finish(const Horizon& horizon);

  /// Waits for the sums under way and drops them.
  void drop();

 private:
  struct Pending {
    StepRecord record;
    TallyReduction sums;
  };

  Communicator& comm_;
  Recorder& recorder_;
  std::optional<Pending> pending_;
};

}  // namespace lockstep
