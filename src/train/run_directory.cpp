#include "lockstep/train/run_directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/io/checkpoint_store.hpp"

namespace lockstep {
namespace {

constexpr std::array written{"metrics.h5", "checkpoints", "config.ini", "log.txt", "log.jsonl",
                             "stop.json",  "curves.png",  "traces",     "requeued"};

}  // namespace

bool RunDirectory::holds_run() const {
  for (const char* name : written) {
    const std::filesystem::path entry = path_ / name;
    std::error_code ignored;
    // An empty directory of checkpoints is all that a run leaves that was refused when it began.
    const bool nothing =
        std::filesystem::is_directory(entry, ignored) && std::filesystem::is_empty(entry, ignored);
    if (std::filesystem::exists(entry, ignored) && !nothing) return true;
  }
  return !CheckpointStore(checkpoints_).list().empty();
}

std::filesystem::path RunDirectory::trace(int rank) const {
  return path_ / "traces" / ("rank_" + std::to_string(rank) + ".json");
}

void RunDirectory::create() const {
  const auto make = [](const std::filesystem::path& path, const char* setting) {
    const std::string remedy = std::string("choose another place with --") + setting;
    std::error_code status;
    std::filesystem::create_directories(path, status);
    if (status) throw UsageError("make the directory " + path.string(), status.message(), remedy);
    if (::access(path.c_str(), W_OK | X_OK) != 0) {
      throw UsageError("write into " + path.string(), errno_text(errno), remedy);
    }
  };
  make(path_, "output_dir");
  make(checkpoints_, checkpoints_.parent_path() == path_ ? "output_dir" : "checkpoint_dir");
}

std::vector<std::filesystem::path> RunDirectory::written_paths() const {
  std::vector<std::filesystem::path> paths;
  for (const char* name : written) paths.push_back(path_ / name);
  for (CheckpointEntry& entry : CheckpointStore(checkpoints_).list()) {
    paths.push_back(std::move(entry.path));
  }
  return paths;
}

bool RunDirectory::would_remove(const std::filesystem::path& path) const {
  const std::filesystem::path asked = std::filesystem::weakly_canonical(path);
  const auto holds = [&](const std::filesystem::path& removed) {
    const std::filesystem::path whole = std::filesystem::weakly_canonical(removed);
    return std::ranges::mismatch(whole, asked).in1 == whole.end();
  };
  return std::ranges::any_of(written_paths(), holds);
}

void RunDirectory::remove_run() const {
  for (const std::filesystem::path& path : written_paths()) {
    std::error_code status;
    std::filesystem::remove_all(path, status);
    if (status) throw Error("remove " + path.string(), status.message());
  }
}

std::string json_text(const StopNote& note) {
  return nlohmann::ordered_json{
             {"reason", note.reason}, {"step", note.step}, {"restart", note.restart}}
             .dump(2) +
         "\n";
}

}  // namespace lockstep
