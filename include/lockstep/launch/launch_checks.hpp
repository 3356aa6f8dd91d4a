#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/launch/slurm_environment.hpp"

namespace lockstep {

/// What is wrong, or only odd, about the way the job was launched.
struct LaunchFindings {
  std::optional<UsageError> error;
  std::vector<std::string> warnings;
};

/// Compares Slurm's idea of the job with MPI's, before anything is written. `world_size` is MPI's.
///
/// A step of several tasks in which MPI sees one rank means that srun and MPI do not understand
/// each other: each task would train on its own and all would write the same files. That is an
/// error unless `allow_single` (the flag --allow_single), which turns it into a warning. Any other
/// difference between the step's tasks and MPI's ranks is a warning with both numbers. Below
/// mpiexec and outside a step there is nothing to compare.
LaunchFindings check_launch(const SlurmEnvironment& slurm, int world_size, bool allow_single);

}  // namespace lockstep
