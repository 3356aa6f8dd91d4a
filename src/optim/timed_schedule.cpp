#include "lockstep/optim/timed_schedule.hpp"

#include <utility>

#include "lockstep/base/text.hpp"

namespace lockstep {

Field lr_field(ScheduleTiming& timing) {
  return field("lr", timing.lr, "highest learning rate: where the schedule starts after a warm-up",
               at_least(0.0));
}

FieldTable timing_fields(ScheduleTiming& timing) {
  return {field("lr_update", timing.lr_update, "when the learning rate moves", {"step", "epoch"}),
          field("warmup_epochs", timing.warmup_epochs,
                "epochs, or parts of one, in which the learning rate rises to lr; 0: none",
                at_least(0.0)),
          field("warmup_start", timing.warmup_start,
                "learning rate the warm-up starts with, as a part of lr", between(0.0, 1.0))};
}

std::vector<std::string> problems(const ScheduleTiming& timing, std::int64_t horizon_epochs) {
  if (timing.warmup_epochs <= static_cast<double>(horizon_epochs)) return {};
  return {"warmup_epochs " + shortest_text(timing.warmup_epochs) + " is more than the " +
          std::to_string(horizon_epochs) + " epochs of the run"};
}

FieldTable falling_fields(ScheduleTiming& timing, double& lr_min) {
  FieldTable table{
      lr_field(timing),
      field("lr_min", lr_min, "learning rate that cosine and polynomial end at", at_least(0.0))};
  for (Field& entry : timing_fields(timing)) table.push_back(std::move(entry));
  return table;
}

std::vector<std::string> falling_problems(const ScheduleTiming& timing, double lr_min,
                                          std::int64_t horizon_epochs) {
  std::vector<std::string> found = problems(timing, horizon_epochs);
  if (lr_min > timing.lr) {
    found.push_back("lr_min " + shortest_text(lr_min) + " is above lr " + shortest_text(timing.lr) +
                    ", but a decay ends below where it starts: lower lr_min or raise lr");
  }
  return found;
}

TimedSchedule::TimedSchedule(ScheduleTiming timing) : timing_(std::move(timing)) {}

double TimedSchedule::learning_rate(const Progress& progress) const {
  // Time in samples or in whole epochs; `unit` of it make an epoch.
  const bool by_epoch = timing_.lr_update == "epoch";
  const auto epochs = static_cast<double>(progress.horizon_epochs);
  const auto end = by_epoch ? epochs : static_cast<double>(progress.horizon_samples);
  const auto now = static_cast<double>(by_epoch ? progress.epoch : progress.consumed_samples);
  const double unit = by_epoch || epochs == 0.0 ? 1.0 : end / epochs;
  const double warmup = timing_.warmup_epochs * unit;
  if (now < warmup) {
    return timing_.lr * (timing_.warmup_start + (1.0 - timing_.warmup_start) * now / warmup);
  }
  if (now >= end) return decayed({(end - warmup) / unit, 1.0});  // also where the horizon is empty
  return decayed({(now - warmup) / unit, (now - warmup) / (end - warmup)});
}

}  // namespace lockstep
