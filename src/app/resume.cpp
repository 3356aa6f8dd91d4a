#include "app/resume.hpp"

#include <algorithm>
#include <system_error>

#include "lockstep/base/text.hpp"
#include "lockstep/base/version.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/checkpoint_store.hpp"

#include "app/provenance.hpp"

namespace lockstep {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::optional<std::string> value_of(const Settings& settings, std::string_view name) {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const auto& setting) { return setting.first == name; });
  if (found == settings.end()) return std::nullopt;
  return found->second;
}

std::filesystem::path named_checkpoint(const TrainOptions& options, const RunDirectory& directory) {
  const std::filesystem::path path = options.resume_from;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw UsageError("resume from " + path.string(), "there is no such file",
                     "--resume_from auto takes the newest checkpoint of output_dir");
  }
  if (!directory.holds_run()) return path;
  if (!options.overwrite) {
    throw UsageError("resume from " + path.string() + " into " + directory.path().string(),
                     "that directory already holds a run",
                     "--resume_from auto goes on with that run; another --output_dir starts a "
                     "branch; --overwrite removes it");
  }
  if (directory.would_remove(path)) {
    throw UsageError("resume from " + path.string(),
                     "overwriting " + directory.path().string() + " would remove the checkpoint",
                     "choose another --output_dir");
  }
  return path;
}

}  // namespace

OpenCheckpoint open_checkpoint(const std::filesystem::path& path, IoThread& io,
                               Communicator& io_comm) {
  try {
    CheckpointReader* reader = io.run([&] { return new CheckpointReader(path, io_comm); });
    return {reader, CloseOnIoThread{&io}};
  } catch (const Error& error) {
    // Found fit by the search for the newest, or named by the user: then nothing else is wrong.
    throw UsageError(error.attempted(), error.reason(),
                     error.remedy().empty() ? "name another checkpoint" : error.remedy());
  }
}

OpenCheckpoint open_newest_checkpoint(const std::filesystem::path& checkpoints, IoThread& io,
                                      Communicator& io_comm, Log& log) {
  const CheckpointStore store(checkpoints);
  NewestCheckpoint newest = io.run([&] { return store.newest_valid(io_comm); });
  if (io_comm.rank() == 0) {
    for (const SkippedCheckpoint& skipped : newest.skipped) {
      log.warn("skipped " + skipped.path.string() + ": " + skipped.reason);
    }
  }
  if (!newest.entry && !newest.skipped.empty()) {
    throw UsageError("take a checkpoint from " + checkpoints.string(),
                     "none of " + std::to_string(newest.skipped.size()) + " can be read",
                     "a copy of one of them; --overwrite starts the training anew");
  }
  return {newest.reader.release(), CloseOnIoThread{&io}};
}

OpenCheckpoint checkpoint_to_resume(const TrainOptions& options, const RunDirectory& directory,
                                    IoThread& io, Communicator& io_comm, Log& log) {
  if (options.resume_from == "auto") {
    return open_newest_checkpoint(directory.checkpoints(), io, io_comm, log);
  }
  if (options.resume_from != "none") {
    const auto named = agreed(io_comm, [&] { return named_checkpoint(options, directory); });
    return open_checkpoint(named, io, io_comm);
  }
  if (directory.holds_run() && !options.overwrite) {
    throw UsageError("start a run in " + directory.path().string(),
                     "the directory already holds one",
                     "--resume_from auto goes on with it, --overwrite removes it, --output_dir "
                     "names another place");
  }
  return {};
}

std::string unknown_settings_text(const CheckpointReader& reader,
                                  const std::vector<std::string>& unknown) {
  const std::optional<std::string> writer =
      value_of(reader.settings("/provenance"), provenance_version);
  return "it was written by Lockstep " + writer.value_or("of an unknown version") +
         " with settings that this program (" + std::string(version()) +
         ") does not know: " + joined(unknown, ", ");
}

void adopt_configuration(const CheckpointReader& reader, RunSettings& settings) {
  Configuration& configuration = settings.configuration();
  Settings trajectory;
  for (const auto& setting : reader.settings("/config")) {
    if (!may_change_on_resume(setting.first)) trajectory.push_back(setting);
  }
  const auto unknown = configuration.apply_stored(trajectory, reader.path().string());
  if (!unknown.empty()) {
    throw UsageError("resume from " + reader.path().string(),
                     unknown_settings_text(reader, unknown),
                     "go on with the version that wrote it");
  }
  configuration.validate();
  std::string differences;
  for (const auto& [name, value] : configuration.stored()) {
    const std::optional<std::string> stored = value_of(trajectory, name);
    const bool allowed = name == "epochs" && settings.train.new_horizon;
    if (!stored || *stored == value || allowed) continue;
    differences += "\n  " + name + " = " + value + " (" + configuration.origin(name) +
                   "), but the run was started with " + *stored;
  }
  if (differences.empty()) return;
  throw UsageError("resume from " + reader.path().string(),
                   "settings that the training depends on differ:" + differences,
                   "leave these settings as they were, or start another run; --new_horizon lets "
                   "epochs change, and the learning rate with it");
}

bool has_other_data(const CheckpointReader& reader, const StoredSettings& provenance,
                    const TrainOptions& options) {
  const auto then = value_of(reader.settings("/provenance"), provenance_data);
  const auto now = value_of(provenance, provenance_data);
  if (then == now) return false;
  if (options.new_data) return true;
  throw UsageError("resume from " + reader.path().string(),
                   "the training data's fingerprint was " + then.value_or("unknown") +
                       " and is now " + now.value_or("unknown"),
                   "train_data must hold the same samples as before; --new_data goes on with "
                   "others, from the beginning of the epoch");
}

std::string differences_of_machine(const CheckpointReader& reader,
                                   const StoredSettings& provenance) {
  std::string differences;
  for (const char* name : bitwise_provenance) {
    const auto then = value_of(reader.settings("/provenance"), name);
    const auto now = value_of(provenance, name);
    if (then == now) continue;
    differences += std::string(differences.empty() ? "" : "; ") + name + " was " +
                   then.value_or("unknown") + " and is " + now.value_or("unknown");
  }
  return differences;
}

}  // namespace lockstep
