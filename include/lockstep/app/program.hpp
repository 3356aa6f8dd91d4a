#pragma once

#include <map>
#include <string>

namespace lockstep {

/// The whole program: chooses the command, brings MPI up and down, and turns what is thrown into a
/// message and an exit code. `environment` is the process's. Collective over the job.
int run_program(int argc, char** argv, const std::map<std::string, std::string>& environment);

}  // namespace lockstep
