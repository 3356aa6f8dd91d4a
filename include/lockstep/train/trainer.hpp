#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/base/log.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/control/fault_injector.hpp"
#include "lockstep/control/heartbeat.hpp"
#include "lockstep/control/step_agreement.hpp"
#include "lockstep/control/stop_request.hpp"
#include "lockstep/data/loader.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/io/metrics_file.hpp"
#include "lockstep/optim/schedule.hpp"
#include "lockstep/train/device_meters.hpp"
#include "lockstep/train/evaluation.hpp"
#include "lockstep/train/host_copy.hpp"
#include "lockstep/train/log_points.hpp"
#include "lockstep/train/options.hpp"
#include "lockstep/train/outlook.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/recorder.hpp"
#include "lockstep/train/run_directory.hpp"
#include "lockstep/train/run_writer.hpp"
#include "lockstep/train/step_profiler.hpp"
#include "lockstep/train/timetable.hpp"
#include "lockstep/train/training_step.hpp"

namespace lockstep {

/// What a trainer works with; all borrowed.
struct TrainerParts {
  const TrainOptions& options;
  const BatchPlan& plan;
  Replica& replica;
  GradientReducer& reducer;
  Precision precision;
  const Schedule& schedule;
  Loader& training;
  std::int64_t training_samples;  ///< in the data set
  Loader* validation;             ///< null where there is no validation data
  Communicator& comm;             ///< the main thread's: gradients and sums
  Communicator& io_comm;          ///< the IO thread's
  IoThread& io;
  const RunDirectory& directory;
  const std::vector<SettingsGroup>& groups;  ///< /config and /provenance of the files
  const StopRequest& stop;
  Heartbeat& heartbeat;
  FaultInjector& faults;
  /// Told of a failure that this rank alone knows of; returns only where there are no other ranks.
  std::function<void(const std::exception&)> failed_alone;
  std::function<double()> seconds_to_job_end;  ///< infinite where it is not known; asked on rank 0
  Log& log;
  std::function<double()> seconds;  ///< a clock that only goes forward
  std::function<void()> first_step_done;
};

enum class TrainEnd {
  finished,         ///< the horizon was reached
  stopped_as_told,  ///< stop_after_epochs or max_steps was reached
  stopped_early     ///< a signal or the job's time limit; a checkpoint was written
};

/// Trains from `loop` and `history` to the end, validates, and writes checkpoints and metrics.
class Trainer {
 public:
  Trainer(const TrainerParts& parts, LoopState loop, MetricsHistory history);

  /// Collective. Throws AgreedError, on all ranks, where files cannot be written or too many
  /// gradients in a row were not finite. What loader, model and communicator throw may be one
  /// rank's alone, for which the others wait: the job must be aborted then.
  TrainEnd run();

 private:
  TrainEnd run_epochs();

  /// How training ended within the epoch, if it did.
  std::optional<TrainEnd> run_epoch();
  /// Validates, records and saves; stopped early where the validation was.
  std::optional<TrainEnd> finish_epoch();
  TrainEnd stop_early(const std::string& reason);
  /// As told by max_steps, within an epoch.
  TrainEnd stop_at_max_steps();
  void stop_here(const std::string& reason, bool restart);
  /// Throws AgreedError for too many bad steps in a row; the checkpoints stay.
  [[noreturn]] void give_up();

  struct Validation {
    Evaluation result;
    std::string stop_reason;  // not empty: all ranks left out the rest
  };
  Validation validate();

  /// A sign of life at the beginning of work that needs no other rank and lasts as long as what is
  /// returned.
  [[nodiscard]] OwnWork own_work(Phase phase);
  /// The same of something that others take part in.
  void joining(Phase phase);

  /// One optimizer step; false where the epoch is over.
  bool run_window();
  std::optional<Batch> next_batch();
  /// Returns its outcomes, or none.
  at::Tensor run_micro_batch(Batch batch);

  /// A step that has been issued, and what the device makes known of it when it has done it.
  struct IssuedStep {
    LoopState loop;  // behind the step, but for what is in `numbers`
    double elapsed_seconds = 0.0;
    HostCopy numbers;  // of StepResult, then of DeviceMeters
  };
  void issue(const StepResult& result);
  /// Waits for the step that was issued last, and reports it, unless it has been. Returns the
  /// seconds it waited, which count as the epoch's and the interval's time of training.
  double settle();
  /// The same before what is there by then is kept: gives up where too many steps were bad.
  void settle_for_good();
  void report(IssuedStep step);

  /// Counts a skipped step and says so.
  void note_outcome(const StepReport& report, std::int64_t global_step);
  bool is_log_point(std::int64_t global_step) const;
  void finish_log_point();
  /// Optimizer steps until this training ends; may be a fraction.
  double steps_left() const;

  /// What this rank asks for after a step. Time is rank 0's to watch.
  Wishes wishes();
  void write_metrics_file();
  void save_checkpoint();
  void count_epoch_seconds();

  std::int64_t epochs_to_do() const;
  bool max_steps_done() const;
  std::string max_steps_reason() const;
  std::int64_t samples_per_epoch() const;
  bool within_epoch() const;

  TrainerParts parts_;
  LoopState loop_;
  MetricsHistory history_;
  TrainingStep step_;
  DeviceMeters meters_;
  std::optional<IssuedStep> issued_;  // not reported yet
  StepProfiler profiler_;
  Recorder recorder_;
  LogPoints log_points_;
  Outlook outlook_;
  Timetable timetable_;
  RunWriter writer_;
  StepAgreement agreement_;
  std::int64_t steps_here_ = 0;  // optimizer steps of this process
  bool checkpoint_due_ = false;  // as agreed
  double began_ = 0.0;
  double counted_until_ = 0.0;  // by the epoch's seconds
};

}  // namespace lockstep
