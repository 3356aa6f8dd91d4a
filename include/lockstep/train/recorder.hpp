#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/log.hpp"
#include "lockstep/io/metrics_file.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/rank_record.hpp"
#include "lockstep/train/step_history.hpp"

namespace lockstep {

/// One finished epoch, over all ranks but for what says otherwise.
struct EpochRecord {
  Position position;  ///< after it; position.epoch counts the epochs finished
  Tally training;
  Tally validation;                          ///< no samples where it was not evaluated
  std::optional<ConfusionMatrix> confusion;  ///< of the validation
  double learning_rate = 0.0;
  // This rank's; rank 0's in /epoch.
  double seconds = 0.0;        ///< from its beginning to here, waits for files included
  double train_seconds = 0.0;  ///< in optimizer steps
  double validation_seconds = 0.0;
  std::int64_t skipped_steps = 0;  ///< of the whole run so far
  std::vector<RankRecord> ranks;   ///< every rank's
};

/// Turns what happened into rows of the metrics history, log lines for people and events for
/// machines. Every rank calls alike (ranks but 0 only keep history). Not collective.
class Recorder {
 public:
  /// The arguments are borrowed.
  Recorder(Log& log, MetricsHistory& history) : log_(log), history_(history) {}

  void record_step(const StepRecord& record, const Horizon& horizon);
  void record_epoch(const EpochRecord& record, const Horizon& horizon);

 private:
  Log& log_;
  MetricsHistory& history_;
};

/// "8.4 s", "3 min 20 s", "2 h 05 min": at most two units.
std::string duration_text(double seconds);

}  // namespace lockstep
