#include "lockstep/train/recorder.hpp"

#include <cmath>

#include <fmt/format.h>

namespace lockstep {
namespace {

// About 0.7 MB of metrics, and more points than a plot is wide.
constexpr std::int64_t most_step_rows = 8192;

std::string rate_text(double images_per_second) {
  return fmt::format("{:.{}f} images/s", images_per_second, images_per_second < 100.0 ? 1 : 0);
}

std::vector<MetricsRow> rows_of(const std::vector<RankRecord>& records) {
  std::vector<MetricsRow> rows;
  for (const RankRecord& record : records) {
    rows.push_back({{"train_samples", record.train_samples},
                    {"train_seconds", record.train_seconds},
                    {"data_wait_seconds", record.data_wait_seconds},
                    {"comm_wait_seconds", record.comm_wait_seconds},
                    {"compute_seconds",
                     record.train_seconds - record.data_wait_seconds - record.comm_wait_seconds},
                    {"peak_rss_bytes", record.peak_rss_bytes}});
  }
  return rows;
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 0.1) return fmt::format("{:.0f} ms", 1e3 * seconds);
  if (seconds < 60.0) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

void Recorder::record_step(const StepRecord& record, const Horizon& horizon) {
  const double images_per_second = record.tally.rate(record.interval_seconds);
  append_log_point(history_.step, record, most_step_rows);
  log_.info(fmt::format("epoch {}/{}  step {:>6}  loss {:.4f}  lr {:.3g}  {}", record.epoch + 1,
                        horizon.epochs, record.global_step, record.tally.mean_loss(),
                        record.learning_rate, rate_text(images_per_second)));
  log_.event("step", {{"global_step", record.global_step},
                      {"epoch", record.epoch},
                      {"samples", record.tally.samples},
                      {"loss", record.tally.mean_loss()},
                      {"nonfinite", record.tally.nonfinite},
                      {"grad_norm", record.grad_norm},
                      {"loss_scale", record.loss_scale},
                      {"skipped_steps", record.skipped_steps},
                      {"lr", record.learning_rate},
                      {"images_per_second", images_per_second},
                      {"elapsed_seconds", record.elapsed_seconds}});
}

void Recorder::record_epoch(const EpochRecord& record, const Horizon& horizon) {
  const std::int64_t epoch = record.position.epoch - 1;
  const double images_per_second = record.training.rate(record.train_seconds);
  history_.epoch.append({{"epoch", epoch},
                         {"global_step", record.position.global_step},
                         {"samples_seen", record.position.consumed_samples},
                         {"world_size", std::ssize(record.ranks)},
                         {"lr", record.learning_rate},
                         {"train_loss_sum", record.training.loss_sum},
                         {"train_loss", record.training.mean_loss()},
                         {"train_correct", record.training.correct},
                         {"train_samples", record.training.samples},
                         {"train_accuracy", record.training.accuracy()},
                         {"train_top5_correct", record.training.correct_top5},
                         {"train_top5_accuracy", record.training.accuracy_top5()},
                         {"train_nonfinite", record.training.nonfinite},
                         {"val_loss_sum", record.validation.loss_sum},
                         {"val_loss", record.validation.mean_loss()},
                         {"val_correct", record.validation.correct},
                         {"val_samples", record.validation.samples},
                         {"val_accuracy", record.validation.accuracy()},
                         {"val_top5_correct", record.validation.correct_top5},
                         {"val_top5_accuracy", record.validation.accuracy_top5()},
                         {"val_nonfinite", record.validation.nonfinite},
                         {"skipped_steps", record.skipped_steps},
                         {"epoch_seconds", record.seconds},
                         {"train_seconds", record.train_seconds},
                         {"val_seconds", record.validation_seconds},
                         {"images_per_second", images_per_second}});
  history_.rank.append(rows_of(record.ranks));
  if (record.confusion) history_.confusion = *record.confusion;

  const std::string validating =
      record.validation.samples == 0
          ? ""
          : fmt::format(" ({} of them validating)", duration_text(record.validation_seconds));
  std::string text =
      fmt::format("epoch {}/{} done in {}{}: train loss {:.4f}, accuracy {:.2f} %", epoch + 1,
                  horizon.epochs, duration_text(record.seconds), validating,
                  record.training.mean_loss(), 100.0 * record.training.accuracy());
  if (record.validation.samples > 0) {
    text += fmt::format("; validation loss {:.4f}, accuracy {:.2f} % of {}",
                        record.validation.mean_loss(), 100.0 * record.validation.accuracy(),
                        record.validation.samples);
  }
  if (const std::int64_t bad = record.training.nonfinite + record.validation.nonfinite; bad > 0) {
    text += fmt::format("; the losses of {} samples are not finite", bad);
  }
  log_.info(text + "; " + rate_text(images_per_second));
  log_.event("epoch", {{"epoch", epoch},
                       {"global_step", record.position.global_step},
                       {"samples_seen", record.position.consumed_samples},
                       {"lr", record.learning_rate},
                       {"train_loss", record.training.mean_loss()},
                       {"train_accuracy", record.training.accuracy()},
                       {"train_top5_accuracy", record.training.accuracy_top5()},
                       {"train_nonfinite", record.training.nonfinite},
                       {"train_samples", record.training.samples},
                       {"val_loss", record.validation.mean_loss()},
                       {"val_accuracy", record.validation.accuracy()},
                       {"val_top5_accuracy", record.validation.accuracy_top5()},
                       {"val_nonfinite", record.validation.nonfinite},
                       {"val_samples", record.validation.samples},
                       {"epoch_seconds", record.seconds},
                       {"images_per_second", images_per_second}});
}

}  // namespace lockstep
