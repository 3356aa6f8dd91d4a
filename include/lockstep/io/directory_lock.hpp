#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace lockstep {

/// Keeps a directory for one process, by flock(2) on a file in it: the system lets go of it however
/// the process ends. The file stays behind, and says nothing unless it is locked.
class DirectoryLock {
 public:
  /// Takes the lock of `directory`, which must exist, without waiting. Throws UsageError where
  /// another process has it, with what that one signed, and Error where the file cannot be made.
  explicit DirectoryLock(const std::filesystem::path& directory);
  DirectoryLock(DirectoryLock&&) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) noexcept;
  ~DirectoryLock();

  /// Writes who holds the lock into the file, for those who are refused.
  void sign(std::string_view holder);

  /// Why the directory is not kept for this process after all: its file system knows no locks.
  /// Empty where it is.
  const std::string& shortcoming() const { return shortcoming_; }

 private:
  struct File;
  std::filesystem::path path_;
  std::unique_ptr<File> file_;
  std::string shortcoming_;
};

}  // namespace lockstep
