#include "lockstep/launch/slurm_environment.hpp"

#include <charconv>

namespace lockstep {
namespace {

std::optional<std::string> text_of(const EnvironmentMap& environment, const char* name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> number_of(const EnvironmentMap& environment, const char* name) {
  const std::optional<std::string> text = text_of(environment, name);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, status] = std::from_chars(text->data(), end, value);
  if (status != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace

SlurmEnvironment SlurmEnvironment::from(const EnvironmentMap& environment) {
  return {.job_id = text_of(environment, "SLURM_JOB_ID"),
          .array_job_id = text_of(environment, "SLURM_ARRAY_JOB_ID"),
          .array_task_id = text_of(environment, "SLURM_ARRAY_TASK_ID"),
          .restart_count = number_of(environment, "SLURM_RESTART_COUNT"),
          .job_end_time = number_of(environment, "SLURM_JOB_END_TIME"),
          .cpus_per_task = number_of(environment, "SLURM_CPUS_PER_TASK"),
          .ntasks = number_of(environment, "SLURM_NTASKS"),
          .step_id = text_of(environment, "SLURM_STEP_ID"),
          .step_num_tasks = number_of(environment, "SLURM_STEP_NUM_TASKS"),
          // Set by Hydra (MPICH and its kin) and by Open MPI's launcher, never by srun.
          .started_by_mpiexec = environment.contains("MPI_LOCALNRANKS") ||
                                environment.contains("OMPI_COMM_WORLD_SIZE")};
}

std::string SlurmEnvironment::job_text() const {
  if (!job_id) return {};
  std::string text = "Slurm job " + *job_id;
  if (array_job_id && array_task_id) {
    text += ", task " + *array_task_id + " of array " + *array_job_id;
  }
  if (restart_count) text += ", restart " + std::to_string(*restart_count);
  return text;
}

}  // namespace lockstep
