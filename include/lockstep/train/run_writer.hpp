#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "lockstep/base/log.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/checkpoint_store.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/io/metrics_file.hpp"
#include "lockstep/train/options.hpp"
#include "lockstep/train/run_directory.hpp"
#include "lockstep/train/train_state.hpp"

namespace lockstep {

/// What a run writer works with; all borrowed.
struct RunWriterParts {
  const TrainOptions& options;
  const RunDirectory& directory;
  const std::vector<SettingsGroup>& groups;  ///< /config and /provenance of the files
  Communicator& comm;                        ///< the IO thread's
  IoThread& io;
  Log& log;
  const std::function<double()>& seconds;  ///< a clock that only goes forward
  std::function<void()> moved{};           ///< called by the IO thread as a checkpoint grows
};

/// Writes what a run leaves behind: metrics, checkpoints and stop.json. Files are written by the IO
/// thread from copies, behind the training (checkpoint_write = sync waits for them), at most one
/// checkpoint and one metrics file at a time: the next waits for the last. All functions but
/// look() are to be called by all ranks in the same order; they throw AgreedError, on all ranks,
/// where an earlier write failed.
class RunWriter {
 public:
  explicit RunWriter(const RunWriterParts& parts);

  void write_metrics(const MetricsHistory& history);
  /// `snapshot` is of step `global_step`; `began`: when the copying of it did. Older checkpoints
  /// are pruned once this one is on disk, as `history` up to this step says.
  void save_checkpoint(std::unique_ptr<const StateSnapshot> snapshot, std::int64_t global_step,
                       const MetricsHistory& history, double began);

  /// Tells how long an optimizer step took, for a report on what writing behind the training costs
  /// it. Not collective.
  void note_step(double seconds) { (checkpoint_ ? steps_beside_ : steps_alone_).add(seconds); }

  /// Reports what has been written since the last call, and returns whether a write failed on this
  /// rank. Never waits; the answer differs from rank to rank, so ranks are to agree on it and then
  /// all call finish(). Not collective.
  bool look();

  /// Waits until all is written.
  void finish();
  /// Waits likewise, whatever became of the writes.
  void settle() noexcept;

  /// The longest that a checkpoint of this run took, from the copying of its state until it was on
  /// disk; 0 before the first.
  double longest_checkpoint_seconds() const { return longest_seconds_; }

  /// Replaces stop.json.
  void note_stop(const StopNote& note) const;

 private:
  struct Written {
    WriteReport file;
    double seconds = 0.0;
  };
  // Shared futures keep what was thrown, however often it is asked for.
  struct Checkpoint {
    std::shared_future<Written> written;
    std::int64_t global_step = 0;
    double stall_seconds = 0.0;  // for which the training stood still
  };

  struct StepTimes {
    std::int64_t steps = 0;
    double seconds = 0.0;

    void add(double step_seconds) {
      ++steps;
      seconds += step_seconds;
    }
    double mean() const { return seconds / static_cast<double>(steps); }
  };

  void finish_metrics();
  void finish_checkpoint();
  void report(const Checkpoint& checkpoint, const Written& written);

  RunWriterParts parts_;
  CheckpointStore store_;
  std::shared_future<void> metrics_;
  std::optional<Checkpoint> checkpoint_;
  double longest_seconds_ = 0.0;
  // Since the last checkpoint's report: of steps while one was written, and of others.
  StepTimes steps_beside_;
  StepTimes steps_alone_;
};

}  // namespace lockstep
