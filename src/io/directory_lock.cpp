#include "lockstep/io/directory_lock.hpp"

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

#include "io/posix_file.hpp"

namespace lockstep {
namespace {

constexpr const char* file_name = "run.lock";

std::string holder_of(const FileDescriptor& file, const std::filesystem::path& path) {
  std::array<char, 500> text{};
  const std::int64_t length = read_at(file, path, 0, std::as_writable_bytes(std::span(text)));
  const auto holder = trimmed({text.data(), static_cast<std::size_t>(length)});
  return holder.empty() ? "a process that is still starting" : std::string(holder);
}

}  // namespace

struct DirectoryLock::File {
  FileDescriptor descriptor;
};

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : path_(directory / file_name),
      file_(std::make_unique<File>(open_file(path_, O_RDWR | O_CREAT, "open"))) {
  if (::flock(file_->descriptor.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) {
    throw UsageError("write into the directory " + directory.string(),
                     "another run does: " + holder_of(file_->descriptor, path_),
                     "wait for its end, or choose another --output_dir");
  }
  shortcoming_ = "two runs at once in " + directory.string() +
                 " would not be noticed: " + errno_text(errno) + " (flock of " + file_name + ")";
}

DirectoryLock::DirectoryLock(DirectoryLock&&) noexcept = default;
DirectoryLock& DirectoryLock::operator=(DirectoryLock&&) noexcept = default;
DirectoryLock::~DirectoryLock() = default;

void DirectoryLock::sign(std::string_view holder) {
  release_space(path_);
  write_at(file_->descriptor, path_, 0, std::as_bytes(std::span(holder)));
}

}  // namespace lockstep
