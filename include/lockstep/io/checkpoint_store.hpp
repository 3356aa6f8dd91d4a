#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/checkpoint_file.hpp"

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
  std::optional<CheckpointEntry> entry;      ///< empty where no valid checkpoint was found
  std::vector<SkippedCheckpoint> skipped;    ///< newer ones that are no good, newest first
  std::unique_ptr<CheckpointReader> reader;  ///< of `entry`; to be destroyed on the IO thread
};

/// Which checkpoints stay when a new one has been written.
struct Retention {
  std::int64_t last = 1;  ///< so many of the newest, the new one included; at least one
  std::vector<std::int64_t> always{};  ///< steps that stay
  /// Steps from the best to the worst: the first of which there is a complete checkpoint stays.
  std::vector<std::int64_t> best_first{};
};

/// The checkpoints of one run: files step_%012d.h5 in one directory. The directory itself is the
/// only record, so nothing can disagree with it. Rank 0 looks and removes, all ranks check; every
/// rank learns the outcome or throws the same Error. All functions but path() and list() are
/// collective.
class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path path(std::int64_t step) const;

  /// What is there, complete or not, oldest first. Empty where the directory is missing.
  std::vector<CheckpointEntry> list() const;

  /// Creates the directory and removes what interrupted writes left behind.
  void prepare(Communicator& comm) const;

  /// The newest checkpoint that is complete, undamaged and opens. Called on the IO thread.
  NewestCheckpoint newest_valid(Communicator& comm) const;

  /// Removes what is older than checkpoint `newest_step`, just written, but for what `retention`
  /// keeps; ones that are not complete count for nothing. Those with higher steps are left alone.
  void prune(std::int64_t newest_step, const Retention& retention, Communicator& comm) const;

 private:
  /// As list() on rank 0.
  std::vector<CheckpointEntry> list_alike(Communicator& comm) const;

  std::filesystem::path directory_;
};

}  // namespace lockstep
