#include "lockstep/train/step_history.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

/// A row of the table: one or more log points.
struct Row {
  StepRecord record;
  std::int64_t log_points = 1;
};

Row row_of(const MetricsTable& steps, std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  return {.record = {.global_step = steps.integers("global_step")[i],
                     .epoch = steps.integers("epoch")[i],
                     .tally = {.loss_sum = steps.reals("loss_sum")[i],
                               .nonfinite = steps.integers("nonfinite")[i],
                               .samples = steps.integers("samples")[i]},
                     .learning_rate = steps.reals("lr")[i],
                     .grad_norm = steps.reals("grad_norm")[i],
                     .loss_scale = steps.reals("loss_scale")[i],
                     .skipped_steps = steps.integers("skipped_steps")[i],
                     .interval_seconds = steps.reals("interval_seconds")[i],
                     .elapsed_seconds = steps.reals("elapsed_seconds")[i]},
          .log_points = steps.integers("log_points")[i]};
}

void append(MetricsTable& steps, const Row& row) {
  const StepRecord& record = row.record;
  steps.append({{"global_step", record.global_step},
                {"epoch", record.epoch},
                {"log_points", row.log_points},
                {"samples", record.tally.samples},
                {"nonfinite", record.tally.nonfinite},
                {"loss_sum", record.tally.loss_sum},
                {"loss", record.tally.mean_loss()},
                {"lr", record.learning_rate},
                {"grad_norm", record.grad_norm},
                {"loss_scale", record.loss_scale},
                {"skipped_steps", record.skipped_steps},
                {"images_per_second", record.tally.rate(record.interval_seconds)},
                {"interval_seconds", record.interval_seconds},
                {"elapsed_seconds", record.elapsed_seconds}});
}

Row merged(const Row& earlier, const Row& later) {
  Row row = later;
  row.log_points += earlier.log_points;
  row.record.tally += earlier.record.tally;
  row.record.interval_seconds += earlier.record.interval_seconds;
  return row;
}

void merge_pairs(MetricsTable& steps) {
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < steps.rows(); i += 2) {
    const Row row = row_of(steps, i);
    rows.push_back(i + 1 < steps.rows() ? merged(row, row_of(steps, i + 1)) : row);
  }
  steps.truncate(0);
  for (const Row& row : rows) append(steps, row);
}

}  // namespace

void append_log_point(MetricsTable& steps, const StepRecord& record, std::int64_t most_rows) {
  Row row{.record = record};
  if (const std::int64_t rows = steps.rows(); rows > 0) {
    const Row last = row_of(steps, rows - 1);
    // The first row is full: it tells how many log points a row takes.
    if (last.log_points < row_of(steps, 0).log_points) {
      row = merged(last, row);
      steps.truncate(rows - 1);
    }
  }
  append(steps, row);
  if (steps.rows() > most_rows) merge_pairs(steps);
}

}  // namespace lockstep
