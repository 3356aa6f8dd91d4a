#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// The directory a run writes into, and the names of what is in it. Only rank 0 changes it. The
/// checkpoints may be elsewhere, in a directory that is this run's alone.
class RunDirectory {
 public:
  explicit RunDirectory(std::filesystem::path path)
      : path_(std::move(path)), checkpoints_(path_ / "checkpoints") {}
  RunDirectory(std::filesystem::path path, std::filesystem::path checkpoints)
      : path_(std::move(path)), checkpoints_(std::move(checkpoints)) {}

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& checkpoints() const { return checkpoints_; }
  std::filesystem::path metrics() const { return path_ / "metrics.h5"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }
  std::filesystem::path config() const { return path_ / "config.ini"; }
  /// A rank's trace, where one is asked for.
  std::filesystem::path trace(int rank) const;
  std::filesystem::path stop() const { return path_ / "stop.json"; }

  /// Whether a run left anything here.
  bool holds_run() const;
  /// Makes the directories and their parents. Throws UsageError naming the path that cannot be made
  /// or written into.
  void create() const;
  /// Removes what a run wrote, by name, and nothing else; of a checkpoint directory elsewhere, the
  /// checkpoints. Throws Error where that fails.
  void remove_run() const;
  /// Whether remove_run() would remove the file `path`, perhaps by other links, or a directory it
  /// is in.
  bool would_remove(const std::filesystem::path& path) const;

 private:
  /// What remove_run() removes, files and whole directories, whether they are there or not.
  std::vector<std::filesystem::path> written_paths() const;

  std::filesystem::path path_;
  std::filesystem::path checkpoints_;
};

/// Why a run ended early, for job scripts: stop.json's content.
struct StopNote {
  std::string reason;
  std::int64_t step = 0;
  bool restart = false;  ///< whether starting again would go on with the training
};

std::string json_text(const StopNote& note);

}  // namespace lockstep
