#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lockstep/base/wake_event.hpp"
#include "lockstep/launch/slurm_environment.hpp"

namespace lockstep {

/// Seconds since 1970 of what `squeue -o %e` prints ("2026-03-01T09:30:00", local time); nothing
/// for "N/A" and the like.
std::optional<double> parse_job_end(std::string_view text);

/// What a command prints, or nothing where it fails or takes more than `deadline_seconds` or until
/// `calls_off` (null: never) is set, after which it is killed with all it started. Its input and
/// standard error are /dev/null.
std::optional<std::string> output_of(const std::vector<std::string>& command,
                                     double deadline_seconds, const WakeEvent* calls_off = nullptr);

/// Asks when the job ends, at once and then regularly, on a thread of its own, so that nobody waits
/// for the scheduler.
class JobEnd {
 public:
  /// Nobody waits for the answer any more once the event is set.
  using Question = std::function<std::optional<double>(const WakeEvent& calls_off)>;

  /// An empty question has no answer. Throws Error where the system gives no descriptor.
  JobEnd(Question question, double interval_seconds);
  JobEnd(const JobEnd&) = delete;
  JobEnd& operator=(const JobEnd&) = delete;
  ~JobEnd();

  /// The last answer, in seconds since 1970; infinite while there is none. An answer stays where
  /// the next question has none.
  double seconds() const { return seconds_.load(); }

 private:
  void ask_regularly(double interval_seconds);

  Question question_;
  std::atomic<double> seconds_;
  WakeEvent ending_;
  std::thread thread_;
};

/// A question for the time at which the scheduler ends this job, in seconds since 1970: squeue's
/// answer, which follows changes of the limit; until there is one, SLURM_JOB_END_TIME. squeue has
/// `deadline_seconds` for it. Outside a job the question is empty. Infinite where there is no
/// limit; nothing where it is not known.
JobEnd::Question job_end_question(const SlurmEnvironment& slurm, double deadline_seconds = 10.0);

}  // namespace lockstep
