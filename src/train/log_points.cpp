#include "lockstep/train/log_points.hpp"

namespace lockstep {

void LogPoints::start(const LoopState& loop, const StepReport& report, double elapsed_seconds) {
  Pending& point = pending_.emplace();
  point.record.global_step = loop.position.global_step;
  point.record.epoch = loop.position.epoch;
  point.record.learning_rate = loop.learning_rate;
  point.record.grad_norm = report.grad_norm;
  point.record.loss_scale = report.loss_scale;
  point.record.skipped_steps = loop.skipped_steps;
  point.record.interval_seconds = loop.interval_seconds;
  point.record.elapsed_seconds = elapsed_seconds;
  point.sums.start(comm_, loop.interval_tally, "sums of a log point");
}

std::optional<double> LogPoints::finish(const Horizon& horizon) {
  if (!pending_) return std::nullopt;
  StepRecord record = pending_->record;
  record.tally = pending_->sums.finish();
  pending_.reset();
  recorder_.record_step(record, horizon);
  return record.tally.mean_loss();
}

void LogPoints::drop() {
  if (pending_) pending_->sums.finish();
  pending_.reset();
}

}  // namespace lockstep
