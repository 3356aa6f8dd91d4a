#include "app/run_lock.hpp"

#include <array>
#include <ctime>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/launch/slurm_environment.hpp"

namespace lockstep {
namespace {

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  localtime_r(&now, &fields);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &fields);
  return text.data();
}

std::string holder_text(const EnvironmentMap& environment) {
  const auto job = SlurmEnvironment::from(environment).job_id;
  return fmt::format("process {} on {}{}, since {}\n", getpid(), MpiSession::host_name(),
                     job ? ", Slurm job " + *job : "", local_time());
}

}  // namespace

RunLock::RunLock(const CommandContext& context, const RunDirectory& directory) {
  agreed(context.session.world(), [&] {
    if (context.session.rank() == 0 && directory.holds_run()) lock(directory);
  });
}

void RunLock::lock(const RunDirectory& directory) {
  const auto keep = [this](const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path)) locks_.emplace_back(path);
  };
  keep(directory.path());
  if (directory.checkpoints().parent_path() != directory.path()) keep(directory.checkpoints());
}

void RunLock::take(const CommandContext& context, const RunDirectory& directory) {
  const bool looked_before = !locks_.empty();
  locks_.clear();
  lock(directory);
  // Every run leaves its configuration; the directories alone are this one's.
  if (!looked_before && std::filesystem::exists(directory.config())) {
    throw UsageError("start a run in " + directory.path().string(),
                     "another one has been there since this one began to start",
                     "--resume_from auto goes on with it, --output_dir names another place");
  }
  for (DirectoryLock& one : locks_) {
    if (!one.shortcoming().empty()) context.log.warn(one.shortcoming());
    one.sign(holder_text(context.environment));
  }
}

}  // namespace lockstep
