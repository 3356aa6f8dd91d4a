#include "lockstep/app/program.hpp"
#include "lockstep/launch/slurm_environment.hpp"

int main(int argc, char** argv) {
  return lockstep::run_program(argc, argv, lockstep::environment_map());
}
