#include "lockstep/optim/timed_schedule.hpp"

#include <utility>

#include "lockstep/base/text.hpp"

namespace lockstep {

FieldTable TimedScheduleBuilder::fields_around(FieldTable own) {
  FieldTable table{field("lr", timing_.lr,
                         "highest learning rate: where the schedule starts after a warm-up",
                         at_least(0.0))};
  for (Field& entry : own) table.push_back(std::move(entry));
  table.push_back(
      field("lr_update", timing_.lr_update, "when the learning rate moves", {"step", "epoch"}));
  table.push_back(field("warmup_epochs", timing_.warmup_epochs,
                        "epochs, or parts of one, in which the learning rate rises to lr; 0: none",
                        at_least(0.0)));
  table.push_back(field("warmup_start", timing_.warmup_start,
                        "learning rate the warm-up starts with, as a part of lr",
                        between(0.0, 1.0)));
  return table;
}

std::vector<std::string> TimedScheduleBuilder::problems(std::int64_t horizon_epochs) const {
  if (timing_.warmup_epochs <= static_cast<double>(horizon_epochs)) return {};
  return {"warmup_epochs " + shortest_text(timing_.warmup_epochs) + " is more than the " +
          std::to_string(horizon_epochs) + " epochs of the run"};
}

FieldTable FallingScheduleBuilder::fields() {
  return fields_around(
      {field("lr_min", lr_min_, "learning rate that cosine and polynomial end at", at_least(0.0))});
}

std::vector<std::string> FallingScheduleBuilder::problems(std::int64_t horizon_epochs) const {
  std::vector<std::string> found = TimedScheduleBuilder::problems(horizon_epochs);
  if (lr_min_ > timing_.lr) {
    found.push_back("lr_min " + shortest_text(lr_min_) + " is above lr " +
                    shortest_text(timing_.lr) +
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
