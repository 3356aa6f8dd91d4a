#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/launch/environment.hpp"

namespace lockstep {

/// What Slurm told this process through its environment; everything is unset outside a job. It
/// serves for cross-checks and records only: ranks and sizes come from MPI, and nobody parses a
/// node list. A number that cannot be read counts as unset.
struct SlurmEnvironment {
  std::optional<std::string> job_id{};
  std::optional<std::string> array_job_id{};    ///< the job array this job belongs to
  std::optional<std::string> array_task_id{};   ///< its index in the array
  std::optional<std::int64_t> restart_count{};  ///< unset in a job's first run
  std::optional<std::int64_t> job_end_time{};   ///< seconds since 1970; unset before Slurm 23
  std::optional<std::int64_t> cpus_per_task{};  ///< unset where -c was not given
  std::optional<std::int64_t> ntasks{};  ///< of the step within one, of the job in a batch script

  // Set only within a job step, that is, for what srun started.
  std::optional<std::string> step_id{};
  std::optional<std::int64_t> step_num_tasks{};

  /// Whether MPI's own launcher started this process. Where mpiexec uses srun to start its helpers,
  /// one a node, the step's variables describe those and not the ranks.
  bool started_by_mpiexec = false;

  static SlurmEnvironment from(const EnvironmentMap& environment);

  bool in_job() const { return job_id.has_value(); }
  bool in_step() const { return step_id.has_value(); }

  /// "Slurm job 107, task 7 of array 100, restart 2"; empty outside a job.
  std::string job_text() const;
};

}  // namespace lockstep
