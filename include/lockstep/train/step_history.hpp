#pragma once

#include <cstdint>

#include "lockstep/io/metrics_table.hpp"
#include "lockstep/train/tally.hpp"

namespace lockstep {

/// One log point: the optimizer steps since the last one, over all ranks.
struct StepRecord {
  std::int64_t global_step = 0;  ///< the last of them, counted from 1
  std::int64_t epoch = 0;        ///< from 0
  Tally tally;
  double learning_rate = 0.0;      ///< of that step
  double grad_norm = 0.0;          ///< of that step, before clipping
  double loss_scale = 1.0;         ///< of that step
  std::int64_t skipped_steps = 0;  ///< of the whole run, up to that step
  double interval_seconds = 0.0;
  double elapsed_seconds = 0.0;  ///< since training began in this process
};

/// Adds a log point to the table of steps (MetricsHistory::step), which never grows beyond
/// `most_rows` (at least 2): where it would, neighbours are merged in pairs, and from then on each
/// row takes in twice as many log points. Sums, counts and seconds of a merged row are sums, the
/// rest is the last point's, so nothing is lost but resolution. What to do next follows from the
/// table alone: a resumed run goes on as the uninterrupted one does.
void append_log_point(MetricsTable& steps, const StepRecord& record, std::int64_t most_rows);

}  // namespace lockstep
