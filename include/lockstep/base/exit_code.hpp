#pragma once

namespace lockstep {

/// What the program's exit code tells a job script.
enum class ExitCode : int {
  success = 0,    ///< done, or stopped where it was told to stop
  failure = 1,    ///< an error; the message on standard error names it
  usage = 2,      ///< the command line, configuration or launch is wrong; nothing was written
  resumable = 75  ///< stopped early with a checkpoint or before anything was written (EX_TEMPFAIL):
                  ///< start again to go on
};

}  // namespace lockstep
