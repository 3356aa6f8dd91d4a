#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lockstep/control/heartbeat.hpp"

namespace lockstep {

/// What an observer sees of a rank.
struct Sighting {
  Beat beat;
  /// Changes whenever something is heard of the rank, even that it has not moved.
  std::int64_t news = 0;
  bool heard = true;  ///< false: of this rank nothing has ever been heard, so it is not judged
};

struct Verdict {
  std::vector<int> culprits;  ///< ascending
  std::int64_t signal = 0;    ///< of which the culprit died; 0: they hang
  bool frozen = false;        ///< the culprits' processes do not run at all
};

/// Decides from what is seen of all ranks whether the job hangs, and because of whom. It knows only
/// the times it is told, which are its observer's own: no clocks are compared.
///
/// A rank in work of its own that has not moved for the time-out hangs, whatever the others do,
/// provided that it was heard of lately. Where all ranks are in something they do together the job
/// hangs when none has moved for the time-out: ranks move in lockstep, so one that stands still
/// makes all stand still. The culprits are those whose very watchdog has stopped, as by SIGSTOP or
/// with their node; where all run, those that had moved least.
class HangJudge {
 public:
  HangJudge(double timeout_seconds, std::size_t ranks) : timeout_(timeout_seconds), seen_(ranks) {}

  /// To be called several times within the time-out. After a longer silence, as when a debugger or
  /// the scheduler had stopped this very process, all times begin anew.
  std::optional<Verdict> look(double now, std::span<const Sighting> ranks);

  /// Seconds since the rank moved, as of the last look.
  double age(int rank) const;

  /// Whether the rank's watchdog shows no sign of running either, as of the last look.
  bool frozen(int rank) const;

 private:
  struct Seen {
    std::int64_t moves = -1;
    std::int64_t io_moves = -1;
    std::int64_t news = -1;
    std::int64_t pulse = -1;
    double moved_at = 0.0;
    double heard_at = 0.0;
    double pulse_at = 0.0;
  };

  void note(double now, std::span<const Sighting> ranks);
  bool hangs_alone(const Seen& seen, const Beat& beat) const;

  double timeout_;
  std::vector<Seen> seen_;
  double now_ = 0.0;
  bool looked_ = false;
};

}  // namespace lockstep
