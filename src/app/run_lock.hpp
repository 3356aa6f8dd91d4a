#pragma once

#include <vector>

#include "lockstep/io/directory_lock.hpp"
#include "lockstep/train/run_directory.hpp"

#include "app/commands.hpp"

namespace lockstep {

/// Keeps a run's directories for this job, as long as it lives; rank 0 holds the locks.
class RunLock {
 public:
  /// Takes the directories of a run that is there already. Throws AgreedError where another job has
  /// them; changes no file. Collective.
  RunLock(const CommandContext& context, const RunDirectory& directory);

  /// Takes directories that have been made since and writes this process's name into them. Throws
  /// UsageError where another job has them, or had them since the constructor looked and left a run
  /// there. On rank 0 only.
  void take(const CommandContext& context, const RunDirectory& directory);

 private:
  void lock(const RunDirectory& directory);

  std::vector<DirectoryLock> locks_;
};

}  // namespace lockstep
