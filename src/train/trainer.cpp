#include "lockstep/train/trainer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/train/outcomes.hpp"
#include "lockstep/train/train_state.hpp"

namespace lockstep {
namespace {

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

/// Why all ranks are to stop; empty where they are not.
std::string reason_to_stop(const Wishes& agreed) {
  if (agreed.stop_signal != 0) {
    return std::string(StopRequest::signal_name(static_cast<int>(agreed.stop_signal)));
  }
  return agreed.time_is_up ? "the job's time limit" : "";
}

bool due(std::int64_t every, std::int64_t epochs_done, bool last) {
  return every > 0 && (last || epochs_done % every == 0);
}

}  // namespace

Trainer::Trainer(const TrainerParts& parts, LoopState loop, MetricsHistory history)
    : parts_(parts),
      loop_(loop),
      history_(std::move(history)),
      step_(parts.replica, parts.reducer, parts.precision,
            {.max_grad_norm = parts.options.max_grad_norm,
             .label_smoothing = parts.options.label_smoothing,
             .seconds = parts.seconds}),
      meters_(parts.replica.device()),
      profiler_(parts.options.enable_profiling ? parts.directory.trace(parts.comm.rank())
                                               : std::filesystem::path(),
                parts.replica.device().is_cuda()),
      recorder_(parts.log, history_),
      log_points_(parts.comm, recorder_),
      outlook_(parts_.log, parts_.seconds),
      timetable_(parts_.options, parts_.seconds, parts_.seconds_to_job_end),
      writer_({.options = parts.options,
               .directory = parts.directory,
               .groups = parts.groups,
               .comm = parts.io_comm,
               .io = parts.io,
               .log = parts.log,
               .seconds = parts_.seconds,
               .moved = [heartbeat = &parts.heartbeat] { heartbeat->io_moved(); }}),
      agreement_(parts.comm) {
  meters_.set(loop_);
}

std::int64_t Trainer::epochs_to_do() const {
  return std::min(loop_.horizon.epochs,
                  parts_.options.stop_after_epochs.value_or(loop_.horizon.epochs));
}

bool Trainer::max_steps_done() const {
  const std::optional<std::int64_t>& limit = parts_.options.max_steps;
  return limit && loop_.position.global_step >= *limit;
}

std::string Trainer::max_steps_reason() const {
  return fmt::format("max_steps = {}", *parts_.options.max_steps);
}

std::int64_t Trainer::samples_per_epoch() const {
  return samples_in_epoch(parts_.training_samples, parts_.plan);
}

bool Trainer::within_epoch() const {
  return window_at(parts_.training_samples, loop_.position.offset, parts_.plan).has_value();
}

TrainEnd Trainer::run() {
  try {
    return run_epochs();
  } catch (const AgreedError&) {
    // All ranks are here: what they have under way comes to its end, so that they can leave.
    agreement_.settle();
    log_points_.drop();
    writer_.settle();
    throw;
  } catch (const std::exception& error) {
    // Before anything is unwound: the IO thread may be writing for this object, together with ranks
    // that know of nothing.
    parts_.failed_alone(error);
    writer_.settle();
    throw;
  }
}

TrainEnd Trainer::run_epochs() {
  began_ = counted_until_ = parts_.seconds();
  timetable_.start();
  while (loop_.position.epoch < epochs_to_do() && !max_steps_done()) {
    if (const std::optional<TrainEnd> end = run_epoch()) return *end;
  }
  joining(Phase::finish);
  agreement_.settle();
  writer_.finish();
  joining(Phase::finish);
  if (loop_.position.epoch >= loop_.horizon.epochs) return TrainEnd::finished;
  writer_.note_stop({.reason = max_steps_done()
                                   ? max_steps_reason()
                                   : fmt::format("stop_after_epochs = {}", epochs_to_do()),
                     .step = loop_.position.global_step,
                     .restart = false});
  return TrainEnd::stopped_as_told;
}

std::optional<TrainEnd> Trainer::run_epoch() {
  parts_.training.start_epoch(loop_.position.epoch, loop_.position.offset);
  while (run_window()) {
    if (loop_.skipped_in_row >= parts_.options.max_skipped_steps) give_up();
    const Wishes agreed = agreement_.exchange(wishes());
    if (agreed.write_failed) writer_.finish();
    if (const std::string reason = reason_to_stop(agreed); !reason.empty()) {
      return stop_early(reason);
    }
    const std::int64_t every = parts_.options.save_every_steps;
    if (agreed.checkpoint_due || (every > 0 && loop_.position.global_step % every == 0)) {
      checkpoint_due_ = true;
    }
    // An epoch whose last window is done is finished, with what belongs to its end.
    if (!within_epoch()) continue;
    if (max_steps_done()) return stop_at_max_steps();
    if (checkpoint_due_ || agreed.metrics_due) {
      settle_for_good();
      finish_log_point();
    }
    if (agreed.metrics_due) write_metrics_file();
    if (checkpoint_due_) save_checkpoint();
  }
  settle_for_good();
  finish_log_point();
  return finish_epoch();
}

std::optional<Batch> Trainer::next_batch() {
  const ProfileRange range("wait for data");
  const OwnWork work = own_work(Phase::load);
  const double began = parts_.seconds();
  std::optional<Batch> batch = parts_.training.next();
  loop_.epoch.data_wait_seconds += parts_.seconds() - began;
  return batch;
}

OwnWork Trainer::own_work(Phase phase) {
  OwnWork work = parts_.heartbeat.own_work(phase, loop_.position.global_step + 1);
  parts_.faults.at(phase, loop_.position.global_step + 1);
  return work;
}

void Trainer::joining(Phase phase) {
  parts_.heartbeat.joining(phase, loop_.position.global_step);
  parts_.faults.at(phase, loop_.position.global_step);
  // Who does not come so far is a beat behind the others, which then only wait.
  parts_.heartbeat.joining(phase, loop_.position.global_step);
}

at::Tensor Trainer::run_micro_batch(Batch batch) {
  const OwnWork work = own_work(Phase::step);
  if (parts_.faults.spoils(loop_.position.global_step + 1)) {
    std::ranges::fill(batch.images, std::numeric_limits<float>::quiet_NaN());
  }
  at::Tensor outcomes = step_.run_micro_batch(batch);
  parts_.training.recycle(std::move(batch));
  return outcomes;
}

bool Trainer::run_window() {
  const double began = parts_.seconds();
  std::optional<Batch> batch = next_batch();
  if (!batch) return false;
  profiler_.step_begins();

  const SampleRange window = batch->micro_batch.window;
  loop_.learning_rate = parts_.schedule.learning_rate(progress_of(loop_));
  step_.begin_window(rank_samples(window, parts_.plan, parts_.comm.rank(), parts_.comm.size()),
                     window.samples);
  at::Tensor outcomes;
  while (true) {
    const bool last = batch->micro_batch.last_of_window;
    add(outcomes, run_micro_batch(std::move(*batch)));
    if (last) break;
    batch = next_batch();
    check(batch.has_value(), "go on with a global batch", "the loader ended in the midst of it");
  }
  const StepResult result = step_.finish_window(loop_.learning_rate);
  // Of the step before, which a GPU has just done or still does while this one is in its queue.
  // What is waited for here is what a step takes there.
  const double issued = parts_.seconds();
  const double waited = settle();
  const double settled = parts_.seconds();

  meters_.add(outcomes);
  loop_.position.offset = window.end();
  loop_.position.consumed_samples += window.samples;
  ++loop_.position.global_step;
  loop_.epoch.comm_wait_seconds += result.wait_seconds;
  // What was waited for has been counted already.
  const double seconds = issued - began + parts_.seconds() - settled;
  loop_.epoch.train_seconds += seconds;
  loop_.interval_seconds += seconds;
  // The first step is slower than the others.
  if (steps_here_ > 0) writer_.note_step(seconds + waited);
  issue(result);
  if (profiler_.ends_now()) settle();  // the GPU's part of the step belongs to the trace
  if (profiler_.step_ends()) parts_.log.info("wrote " + profiler_.trace().string());
  const bool first = ++steps_here_ == 1;
  if (first || parts_.replica.device().is_cpu()) settle();
  if (first) parts_.first_step_done();
  outlook_.step_done(loop_, steps_left());
  return true;
}

bool Trainer::is_log_point(std::int64_t global_step) const {
  return global_step % parts_.options.log_interval == 0;
}

void Trainer::issue(const StepResult& result) {
  issued_ = {.loop = loop_,
             .elapsed_seconds = parts_.seconds() - began_,
             .numbers = HostCopy(at::cat({result.numbers, meters_.values().flatten()}))};
  if (!is_log_point(loop_.position.global_step)) return;
  meters_.begin_interval();
  loop_.interval_seconds = 0.0;
}

double Trainer::settle() {
  if (!issued_) return 0.0;
  IssuedStep step = *std::exchange(issued_, std::nullopt);
  const double began = parts_.seconds();
  static_cast<void>(step.numbers.wait());
  const double waited = parts_.seconds() - began;
  loop_.epoch.train_seconds += waited;
  loop_.interval_seconds += waited;
  report(std::move(step));
  return waited;
}

void Trainer::settle_for_good() {
  settle();
  if (loop_.skipped_in_row >= parts_.options.max_skipped_steps) give_up();
}

void Trainer::report(IssuedStep step) {
  const std::span<const double> numbers = step.numbers.wait();
  const std::size_t epoch = StepResult::fields;
  const std::size_t interval = epoch + tally_fields;
  const StepReport outcome = report_of(numbers.first(epoch));
  note_outcome(outcome, step.loop.position.global_step);
  loop_.epoch.tally = tally_of(numbers.subspan(epoch, tally_fields));
  loop_.interval_tally = tally_of(numbers.subspan(interval, tally_fields));

  finish_log_point();
  if (!is_log_point(step.loop.position.global_step)) return;
  step.loop.interval_tally = std::exchange(loop_.interval_tally, {});
  step.loop.skipped_steps = loop_.skipped_steps;
  log_points_.start(step.loop, outcome, step.elapsed_seconds);
}

void Trainer::note_outcome(const StepReport& report, std::int64_t global_step) {
  if (report.applied) {
    loop_.skipped_in_row = 0;
    return;
  }
  ++loop_.skipped_steps;
  ++loop_.skipped_in_row;
  if (parts_.comm.rank() != 0) return;  // all ranks know the same
  const GradScaler* scaler = parts_.replica.scaler();
  const std::string text = fmt::format("step {} skipped: its gradient is not finite ({} so far)",
                                       global_step, loop_.skipped_steps);
  if (scaler == nullptr) {
    parts_.log.warn(text);
  } else {
    // Expected now and then: the scale grows until gradients overflow.
    parts_.log.info(fmt::format("{}; loss scale {:g}, was {:g}", text, report.next_loss_scale,
                                report.loss_scale));
  }
}

double Trainer::steps_left() const {
  const auto samples =
      static_cast<double>(samples_per_epoch() * epochs_to_do() - loop_.position.consumed_samples);
  const double steps = samples / static_cast<double>(parts_.plan.global_batch);
  const std::int64_t allowed =
      parts_.options.max_steps.value_or(std::numeric_limits<std::int64_t>::max()) -
      loop_.position.global_step;
  return std::clamp(steps, 0.0, static_cast<double>(allowed));
}

void Trainer::finish_log_point() {
  if (const std::optional<double> loss = log_points_.finish(loop_.horizon)) {
    outlook_.show_loss(*loss);
  }
}

std::optional<TrainEnd> Trainer::finish_epoch() {
  const std::int64_t epochs_done = loop_.position.epoch + 1;
  // By the horizon, not by stop_after_epochs: a run in two parts validates what one in one does.
  const bool at_horizon = epochs_done == loop_.horizon.epochs;
  EpochRecord record;
  if (parts_.validation != nullptr && due(parts_.options.eval_every, epochs_done, at_horizon)) {
    const double began = parts_.seconds();
    Validation validation = validate();
    // The epoch stays as it is, and who goes on from here validates again.
    if (!validation.stop_reason.empty()) return stop_early(validation.stop_reason);
    record.validation = validation.result.tally;
    record.confusion = std::move(validation.result.confusion);
    record.validation_seconds = parts_.seconds() - began;
  }
  record.training = reduced(parts_.comm, loop_.epoch.tally, "sums of an epoch");
  ++loop_.position.epoch;
  loop_.position.offset = 0;
  record.position = loop_.position;
  record.learning_rate = loop_.learning_rate;
  record.skipped_steps = loop_.skipped_steps;
  record.ranks = gathered(parts_.comm, {.train_samples = loop_.epoch.tally.samples,
                                        .train_seconds = loop_.epoch.train_seconds,
                                        .data_wait_seconds = loop_.epoch.data_wait_seconds,
                                        .comm_wait_seconds = loop_.epoch.comm_wait_seconds,
                                        .peak_rss_bytes = peak_rss_bytes()});
  count_epoch_seconds();
  record.seconds = loop_.epoch.seconds;
  record.train_seconds = loop_.epoch.train_seconds;
  loop_.epoch = {};
  meters_.begin_epoch();
  recorder_.record_epoch(record, loop_.horizon);
  write_metrics_file();
  const bool last = epochs_done == epochs_to_do() || max_steps_done();
  if (last || checkpoint_due_ || due(parts_.options.save_every, epochs_done, last)) {
    save_checkpoint();
  }
  return std::nullopt;
}

void Trainer::count_epoch_seconds() {
  const double now = parts_.seconds();
  loop_.epoch.seconds += now - std::exchange(counted_until_, now);
}

Trainer::Validation Trainer::validate() {
  // Where evaluate() throws the weights stay exchanged, but the run is over then.
  WeightAverage* average = parts_.replica.average();
  if (average != nullptr) average->exchange();
  joining(Phase::evaluate);
  Validation validation;
  const auto stop = [&] {
    const Wishes agreed = agreement_.exchange(wishes());
    if (agreed.checkpoint_due) checkpoint_due_ = true;
    validation.stop_reason = reason_to_stop(agreed);
    return !validation.stop_reason.empty();
  };
  validation.result = evaluate(
      parts_.replica.model(), parts_.precision, *parts_.validation, parts_.comm,
      [this] { return own_work(Phase::evaluate); }, stop, &step_.upload());
  if (average != nullptr) average->exchange();
  return validation;
}

TrainEnd Trainer::stop_early(const std::string& reason) {
  stop_here(reason, /*restart=*/true);
  return TrainEnd::stopped_early;
}

TrainEnd Trainer::stop_at_max_steps() {
  stop_here(max_steps_reason(), /*restart=*/false);
  return TrainEnd::stopped_as_told;
}

void Trainer::stop_here(const std::string& reason, bool restart) {
  agreement_.settle();
  settle_for_good();
  finish_log_point();
  const std::int64_t step = loop_.position.global_step;
  parts_.log.info(fmt::format("stopping for {} after step {}", reason, step));
  write_metrics_file();
  save_checkpoint();
  writer_.finish();
  joining(Phase::finish);
  writer_.note_stop({.reason = reason, .step = step, .restart = restart});
}

void Trainer::give_up() {
  const std::int64_t skipped_in_row = loop_.skipped_in_row;
  settle();  // of steps behind those
  finish_log_point();
  write_metrics_file();
  writer_.finish();
  const std::string reason =
      fmt::format("the gradients of {} steps in a row were not finite", skipped_in_row);
  writer_.note_stop({.reason = reason, .step = loop_.position.global_step, .restart = false});
  const GradScaler* scaler = parts_.replica.scaler();
  throw AgreedError(
      ExitCode::failure, fmt::format("train on after step {}", loop_.position.global_step),
      reason + (scaler == nullptr
                    ? ""
                    : fmt::format(", with a loss scale down to {:g}", scaler->state().scale)),
      "looking for NaN or huge values in the data, a lower lr, a longer warm-up or max_grad_norm; "
      "the checkpoints in " +
          parts_.directory.checkpoints().string() + " are from before and stay");
}

Wishes Trainer::wishes() {
  Wishes mine{.stop_signal = parts_.stop.signal(), .write_failed = writer_.look()};
  if (parts_.comm.rank() != 0) return mine;
  mine.time_is_up = timetable_.job_ends_soon(writer_.longest_checkpoint_seconds());
  mine.checkpoint_due = timetable_.checkpoint_due();
  mine.metrics_due = timetable_.metrics_due();
  return mine;
}

void Trainer::write_metrics_file() {
  writer_.write_metrics(history_);
  timetable_.metrics_written();
}

void Trainer::save_checkpoint() {
  joining(Phase::checkpoint);
  const double began = parts_.seconds();
  count_epoch_seconds();
  writer_.save_checkpoint(
      std::make_unique<StateSnapshot>(parts_.replica, loop_, history_, parts_.comm.size()),
      loop_.position.global_step, history_, began);
  checkpoint_due_ = false;
  timetable_.checkpoint_written();
}

}  // namespace lockstep
