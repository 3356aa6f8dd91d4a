#include "lockstep/launch/launch_checks.hpp"

namespace lockstep {
namespace {

std::string copies_text(std::int64_t tasks) {
  return "Slurm's step has " + std::to_string(tasks) +
         " tasks but MPI sees 1 rank in each of them: " + std::to_string(tasks) +
         " independent copies would train and write the same files";
}

constexpr const char* remedy =
    "srun and MPI must share a process manager interface: `srun --mpi=list` shows Slurm's, for "
    "MPICH "
    "start with `srun --mpi=pmi2`, or use mpiexec; --allow_single runs the copies all the same";

}  // namespace

LaunchFindings check_launch(const SlurmEnvironment& slurm, int world_size, bool allow_single) {
  LaunchFindings findings;
  if (!slurm.in_step() || slurm.started_by_mpiexec) return findings;
  // The job's count is what a step inherits, and may be stale from an outer allocation.
  const std::optional<std::int64_t> tasks =
      slurm.step_num_tasks ? slurm.step_num_tasks : slurm.ntasks;
  if (!tasks || *tasks == world_size) return findings;

  if (*tasks > 1 && world_size == 1) {
    if (allow_single) {
      findings.warnings.push_back(copies_text(*tasks) + " (allowed by --allow_single)");
    } else {
      findings.error.emplace("launch with srun", copies_text(*tasks), remedy);
    }
    return findings;
  }
  findings.warnings.push_back("Slurm's step has " + std::to_string(*tasks) + " tasks but MPI has " +
                              std::to_string(world_size) + " ranks; MPI's number holds");
  return findings;
}

}  // namespace lockstep
