#include "lockstep/io/checkpoint_store.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <system_error>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/packed.hpp"

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

bool is_complete(const std::filesystem::path& path) {
  try {
    read_user_block(path);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool contains(const std::vector<std::int64_t>& steps, std::int64_t step) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

/// The first of `best_first` of which there is a complete checkpoint.
std::optional<std::int64_t> best_of(const std::vector<CheckpointEntry>& entries,
                                    const std::vector<std::int64_t>& best_first) {
  for (const std::int64_t step : best_first) {
    for (const CheckpointEntry& entry : entries) {
      if (entry.step == step && is_complete(entry.path)) return step;
    }
  }
  return std::nullopt;
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

std::vector<CheckpointEntry> CheckpointStore::list_alike(Communicator& comm) const {
  Packer packer;
  on_root(comm, [&] {
    const std::vector<CheckpointEntry> entries = list();
    packer.add(static_cast<std::int64_t>(entries.size()));
    for (const CheckpointEntry& entry : entries) packer.add(entry.step);
  });
  const std::string message = broadcast_text(comm, packer.bytes(), 0, "checkpoints there are");
  Unpacker unpacker(message);
  std::vector<CheckpointEntry> entries(static_cast<std::size_t>(unpacker.integer()));
  for (CheckpointEntry& entry : entries) {
    entry.step = unpacker.integer();
    entry.path = path(entry.step);
  }
  return entries;
}

NewestCheckpoint CheckpointStore::newest_valid(Communicator& comm) const {
  NewestCheckpoint found;
  std::vector<CheckpointEntry> entries = list_alike(comm);
  for (; !entries.empty() && !found.entry; entries.pop_back()) {
    const CheckpointEntry& entry = entries.back();
    try {
      found.reader = std::make_unique<CheckpointReader>(entry.path, comm);
      found.entry = entry;
    } catch (const AgreedError& error) {
      found.skipped.push_back(
          {entry.path, error.reason().empty() ? error.attempted() : error.reason()});
    }
  }
  return found;
}

void CheckpointStore::prune(std::int64_t newest_step, const Retention& retention,
                            Communicator& comm) const {
  check(retention.last >= 1, "prune checkpoints", "at least one must be kept");
  on_root(comm, [&] {
    std::vector<CheckpointEntry> entries = list();
    const std::optional<std::int64_t> best = best_of(entries, retention.best_first);
    std::erase_if(entries, [&](const auto& entry) { return entry.step >= newest_step; });
    std::int64_t kept = 1;
    for (; !entries.empty(); entries.pop_back()) {
      const CheckpointEntry& entry = entries.back();
      const bool complete = is_complete(entry.path);
      if (complete && kept < retention.last) {
        ++kept;
      } else if (!complete || (entry.step != best && !contains(retention.always, entry.step))) {
        remove_file(entry.path);
      }
    }
  });
}

}  // namespace lockstep
