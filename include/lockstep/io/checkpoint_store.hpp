#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

struct CheckpointEntry {
  std::int64_t step = 0;
  std::filesystem::path path;
};

struct SkippedCheckpoint {
  std::filesystem::path path;
  std::string reason;
};

struct NewestCheckpoint {
  std::optional<CheckpointEntry> entry;    ///< empty where no valid checkpoint was found
  std::vector<SkippedCheckpoint> skipped;  ///< newer ones that are no good, newest first
};

/// The checkpoints of one run: files step_%012d.h5 in one directory. The directory itself is the
/// only record, so nothing can disagree with it. Rank 0 looks and acts; every rank learns the
/// outcome or throws the same Error. All functions but path() and list() are collective.
class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path path(std::int64_t step) const;

  /// What is there, complete or not, oldest first. Empty where the directory is missing.
  std::vector<CheckpointEntry> list() const;

  /// Creates the directory and removes what interrupted writes left behind.
  void prepare(Communicator& comm) const;

  /// The newest checkpoint that is complete and opens. Called on the IO thread.
  NewestCheckpoint newest_valid(Communicator& comm) const;

  /// Removes what is older than checkpoint `newest_step`, just written, but for the `keep - 1`
  /// newest complete ones; keep >= 1. Those with higher steps are left alone.
  void prune(std::int64_t newest_step, std::int64_t keep, Communicator& comm) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace lockstep
