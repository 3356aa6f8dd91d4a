#pragma once

#include <map>
#include <string>

#include "lockstep/app/gpu_access.hpp"

namespace lockstep {

/// The whole program: chooses the command, brings MPI up and down, and turns what is thrown into a
/// message and an exit code. `environment` is the process's; by `gpus` it comes by its
/// GPUs, if it has any. Collective over the job.
int run_program(int argc, char** argv, const std::map<std::string, std::string>& environment,
                const GpuSupport& gpus = cuda_support());

}  // namespace lockstep
