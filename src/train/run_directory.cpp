#include "lockstep/train/run_directory.hpp"

#include <array>
#include <system_error>

#include <nlohmann/json.hpp>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

constexpr std::array written{"metrics.h5", "checkpoints", "config.ini", "log.txt",
                             "log.jsonl",  "stop.json",   "curves.png", "traces"};

}  // namespace

bool RunDirectory::holds_run() const {
  for (const char* name : written) {
    std::error_code ignored;
    if (std::filesystem::exists(path_ / name, ignored)) return true;
  }
  return false;
}

std::filesystem::path RunDirectory::trace(int rank) const {
  return path_ / "traces" / ("rank_" + std::to_string(rank) + ".json");
}

void RunDirectory::create() const {
  std::error_code status;
  std::filesystem::create_directories(checkpoints(), status);
  if (status) {
    throw Error("make the run's directory " + checkpoints().string(), status.message(),
                "choose another place with --output_dir");
  }
}

void RunDirectory::remove_run() const {
  for (const char* name : written) {
    std::error_code status;
    std::filesystem::remove_all(path_ / name, status);
    if (status) throw Error("remove " + (path_ / name).string(), status.message());
  }
}

std::string json_text(const StopNote& note) {
  return nlohmann::ordered_json{
             {"reason", note.reason}, {"step", note.step}, {"restart", note.restart}}
             .dump(2) +
         "\n";
}

}  // namespace lockstep
