#include "lockstep/io/checkpoint_store.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <system_error>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/packed.hpp"
#include "lockstep/comm/self_communicator.hpp"
#include "lockstep/io/checkpoint_file.hpp"

#include "io/posix_file.hpp"
#include "io/user_block.hpp"

namespace lockstep {
namespace {

constexpr std::string_view prefix = "step_";
constexpr std::string_view suffix = ".h5";

std::string name_of_step(std::int64_t step) {
  std::string digits = std::to_string(step);
  if (digits.size() < 12) digits.insert(0, 12 - digits.size(), '0');
  return std::string(prefix) + digits + std::string(suffix);
}

/// The step in a file's name; empty where the name is not one that name_of_step() gives.
std::optional<std::int64_t> step_of_name(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  const std::string_view digits =
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  std::int64_t step = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (step < 0 || name_of_step(step) != name) return std::nullopt;
  return step;
}

/// Why a checkpoint cannot be used; empty where it can.
std::optional<std::string> defect_of(const std::filesystem::path& path) {
  try {
    SelfCommunicator alone;
    const CheckpointReader reader(path, alone);
    return std::nullopt;
  } catch (const Error& error) {
    return error.reason();
  } catch (const std::exception& error) {  // damage may look like anything, a huge size say
    return error.what();
  }
}

bool is_complete(const std::filesystem::path& path) {
  try {
    check_user_block(path);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void remove_file(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::remove(path, code);
  if (code) throw Error("remove '" + path.string() + "'", code.message());
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory) {
  std::error_code code;
  std::vector<std::filesystem::path> files;
  std::filesystem::directory_iterator entries(directory, code);
  // Not there, also where a file stands in its or a parent's place.
  if (code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory) {
    return files;
  }
  if (code) throw Error("list '" + directory.string() + "'", code.message());
  for (const auto& entry : entries) files.push_back(entry.path());
  return files;
}

std::string packed(const NewestCheckpoint& found) {
  Packer packer;
  packer.add(found.entry ? found.entry->step : std::int64_t{-1});
  packer.add(found.entry ? found.entry->path.string() : std::string());
  packer.add(static_cast<std::int64_t>(found.skipped.size()));
  for (const SkippedCheckpoint& skipped : found.skipped) {
    packer.add(skipped.path.string());
    packer.add(skipped.reason);
  }
  return packer.bytes();
}

NewestCheckpoint unpacked(const std::string& message) {
  Unpacker unpacker(message);
  NewestCheckpoint found;
  const std::int64_t step = unpacker.integer();
  const std::filesystem::path path = unpacker.text();
  if (step >= 0) found.entry = {.step = step, .path = path};
  found.skipped.resize(static_cast<std::size_t>(unpacker.integer()));
  for (SkippedCheckpoint& skipped : found.skipped) {
    skipped.path = unpacker.text();
    skipped.reason = unpacker.text();
  }
  return found;
}

void on_root(Communicator& comm, const std::function<void()>& work) {
  Agreement agreement(comm);
  agreement.attempt_on_root(work);
  agreement.settle();
}

}  // namespace

std::filesystem::path CheckpointStore::path(std::int64_t step) const {
  return directory_ / name_of_step(step);
}

std::vector<CheckpointEntry> CheckpointStore::list() const {
  std::vector<CheckpointEntry> entries;
  for (const std::filesystem::path& file : files_in(directory_)) {
    if (const auto step = step_of_name(file.filename().string())) entries.push_back({*step, file});
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.step < b.step; });
  return entries;
}

void CheckpointStore::prepare(Communicator& comm) const {
  on_root(comm, [&] {
    std::error_code code;
    std::filesystem::create_directories(directory_, code);
    if (code) throw Error("create directory '" + directory_.string() + "'", code.message());
    for (const std::filesystem::path& file : files_in(directory_)) {
      const bool temporary = temporary_path(file.stem()) == file.filename();
      if (temporary && step_of_name(file.stem().string())) remove_file(file);
    }
  });
}

NewestCheckpoint CheckpointStore::newest_valid(Communicator& comm) const {
  NewestCheckpoint found;
  on_root(comm, [&] {
    std::vector<CheckpointEntry> entries = list();
    for (; !entries.empty() && !found.entry; entries.pop_back()) {
      const CheckpointEntry& entry = entries.back();
      if (auto defect = defect_of(entry.path)) {
        found.skipped.push_back({entry.path, std::move(*defect)});
      } else {
        found.entry = entry;
      }
    }
  });
  return unpacked(broadcast_text(comm, packed(found), 0, "newest checkpoint"));
}

void CheckpointStore::prune(std::int64_t newest_step, std::int64_t keep, Communicator& comm) const {
  check(keep >= 1, "prune checkpoints", "at least one must be kept");
  on_root(comm, [&] {
    std::vector<CheckpointEntry> entries = list();
    std::erase_if(entries, [&](const auto& entry) { return entry.step >= newest_step; });
    std::int64_t kept = 1;
    for (; !entries.empty(); entries.pop_back()) {
      const std::filesystem::path& file = entries.back().path;
      if (kept < keep && is_complete(file)) {
        ++kept;
      } else {
        remove_file(file);
      }
    }
  });
}

}  // namespace lockstep
