#include "lockstep/train/run_writer.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "lockstep/base/text.hpp"
#include "lockstep/io/atomic_text.hpp"
#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/train/recorder.hpp"
#include "lockstep/train/retention.hpp"

namespace lockstep {
namespace {

// A wait that is worth a line in the log.
constexpr double long_wait_seconds = 0.5;

template <typename T>
bool arrived(const std::shared_future<T>& result) {
  return result.valid() && result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

RunWriter::RunWriter(const RunWriterParts& parts)
    : parts_(parts), store_(parts.directory.checkpoints()) {}

void RunWriter::write_metrics(const MetricsHistory& history) {
  finish_metrics();
  metrics_ =
      parts_.io
          .submit([this, copy = history] {
            lockstep::write_metrics(parts_.directory.metrics(), copy, parts_.groups, parts_.comm);
          })
          .share();
  if (parts_.options.checkpoint_write == "sync") finish_metrics();
}

void RunWriter::save_checkpoint(std::unique_ptr<const StateSnapshot> snapshot,
                                std::int64_t global_step, const MetricsHistory& history,
                                double began) {
  const double waits = parts_.seconds();
  finish_checkpoint();
  if (const double waited = parts_.seconds() - waits; waited > long_wait_seconds) {
    parts_.log.info(fmt::format("the training waited {} for the checkpoint before this one",
                                duration_text(waited)));
  }
  const auto write = [this, global_step, state = std::shared_ptr(std::move(snapshot)),
                      attributes = checkpoint_attributes(history, global_step),
                      retention = retention_of(parts_.options, history)] {
    const double write_began = parts_.seconds();
    const Content content{
        .arrays = state->arrays(), .attributes = attributes, .groups = parts_.groups};
    const WriteReport file =
        write_checkpoint(store_.path(global_step), content, parts_.comm, {.moved = parts_.moved});
    if (parts_.options.keep_last > 0) {
      store_.prune(global_step, retention, parts_.comm);
    }
    return Written{.file = file, .seconds = parts_.seconds() - write_began};
  };
  checkpoint_ = Checkpoint{.written = parts_.io.submit(write).share(),
                           .global_step = global_step,
                           .stall_seconds = parts_.seconds() - began};
  if (parts_.options.checkpoint_write == "sync") {
    checkpoint_->written.wait();
    checkpoint_->stall_seconds = parts_.seconds() - began;
    finish_checkpoint();
  }
}

bool RunWriter::look() {
  try {
    if (arrived(metrics_)) finish_metrics();
    if (checkpoint_ && arrived(checkpoint_->written)) finish_checkpoint();
    return false;
  } catch (const std::exception&) {
    return true;  // the futures keep it for the call that all ranks make
  }
}

void RunWriter::finish() {
  finish_metrics();
  finish_checkpoint();
}

void RunWriter::settle() noexcept {
  if (metrics_.valid()) metrics_.wait();
  if (checkpoint_) checkpoint_->written.wait();
}

void RunWriter::finish_metrics() {
  if (!metrics_.valid()) return;
  metrics_.get();
  metrics_ = {};
}

void RunWriter::finish_checkpoint() {
  if (!checkpoint_) return;
  report(*checkpoint_, checkpoint_->written.get());
  checkpoint_.reset();
}

void RunWriter::report(const Checkpoint& checkpoint, const Written& written) {
  longest_seconds_ = std::max(longest_seconds_, checkpoint.stall_seconds + written.seconds);
  const std::string path = store_.path(checkpoint.global_step).string();
  std::string line =
      fmt::format("saved {} ({:.1f} MB in {}; the training stood still for {}", path,
                  static_cast<double>(written.file.file_bytes) * 1e-6,
                  duration_text(written.seconds), duration_text(checkpoint.stall_seconds));
  LogFields fields = {{"path", path},
                      {"global_step", checkpoint.global_step},
                      {"bytes", written.file.file_bytes},
                      {"seconds", written.seconds},
                      {"stall_seconds", checkpoint.stall_seconds},
                      {"steps_meanwhile", steps_beside_.steps}};
  if (steps_beside_.steps > 0 && steps_alone_.steps > 0) {
    const double longer = steps_beside_.mean() / steps_alone_.mean() - 1;
    line += fmt::format(", {} meanwhile took {} longer", counted(steps_beside_.steps, "step"),
                        longer > 0 ? fmt::format("{:.0f} %", 100 * longer) : "no");
    fields.emplace_back("step_seconds_meanwhile", steps_beside_.mean());
    fields.emplace_back("step_seconds_before", steps_alone_.mean());
  }
  steps_beside_ = steps_alone_ = {};
  parts_.log.info(line + ")");
  parts_.log.event("checkpoint", fields);
}

void RunWriter::note_stop(const StopNote& note) const {
  if (parts_.comm.rank() == 0) write_text_atomically(parts_.directory.stop(), json_text(note));
}

}  // namespace lockstep
