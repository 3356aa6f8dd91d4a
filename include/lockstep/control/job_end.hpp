#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lockstep/launch/slurm_environment.hpp"

namespace lockstep {

/// Seconds since 1970 of what `squeue -o %e` prints ("2026-03-01T09:30:00", local time); nothing
/// for "N/A" and the like.
std::optional<double> parse_job_end(std::string_view text);

/// What a command prints, or nothing where it fails or takes more than `deadline_seconds`, after
/// which it is killed. Its input and standard error are /dev/null.
std::optional<std::string> output_of(const std::vector<std::string>& command,
                                     double deadline_seconds);

/// A question for the time at which the scheduler ends this job, in seconds since 1970: squeue's
/// answer, which follows changes of the limit, else SLURM_JOB_END_TIME. Outside a job the question
/// is empty. Infinite where there is no limit; nothing where it is not known.
std::function<std::optional<double>()> job_end_question(const SlurmEnvironment& slurm);

/// Asks when the job ends, at once and then regularly, on a thread of its own, so that nobody waits
/// for the scheduler.
class JobEnd {
 public:
  using Question = std::function<std::optional<double>()>;

  /// An empty question has no answer.
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
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace lockstep
