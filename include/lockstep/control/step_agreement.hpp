#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// What one rank wishes and all ranks must do alike, at the same step.
struct Wishes {
  std::int64_t stop_signal = 0;  ///< the signal that asks for a stop, or 0
  bool write_failed = false;     ///< what was written behind the training did not arrive
  bool time_is_up = false;       ///< the job's time limit comes near
  bool checkpoint_due = false;
  bool metrics_due = false;
};

/// Lets ranks agree without stopping for it: wishes handed in at step k travel in one small
/// non-blocking MAX reduction while step k runs, and are known to every rank at step k + 1.
class StepAgreement {
 public:
  /// Duplicates `comm`; collective.
  explicit StepAgreement(Communicator& comm);
  StepAgreement(const StepAgreement&) = delete;
  StepAgreement& operator=(const StepAgreement&) = delete;

  /// Hands in this rank's wishes and returns what all ranks agreed on at the previous call (nothing
  /// at the first). Collective. Always waits for the message rather than testing for it, since a
  /// test's answer differs from rank to rank.
  Wishes exchange(const Wishes& mine);

  /// Waits for what is under way and returns it. Collective; exchange() starts anew.
  Wishes settle();

 private:
  std::unique_ptr<Communicator> comm_;
  std::vector<std::int64_t> words_;
  Work under_way_;
};

}  // namespace lockstep
