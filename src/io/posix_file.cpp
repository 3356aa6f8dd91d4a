#include "io/posix_file.hpp"

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

bool tells_of_space(int code) {
  return code == ENOSPC || code == EDQUOT;
}

/// Of the file system that `path` is on, or would be; empty where it does not say.
std::optional<std::int64_t> bytes_free(const std::filesystem::path& path) {
  struct statvfs info {};
  if (::statvfs(directory_of(path).c_str(), &info) != 0) return std::nullopt;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(info.f_bavail, info.f_frsize, &bytes)) return std::nullopt;
  return bytes;
}

[[noreturn]] void fail(std::string_view attempted, const std::filesystem::path& path, int code) {
  std::string reason = errno_text(code);
  std::string remedy;
  if (tells_of_space(code)) {
    if (const auto bytes = bytes_free(path)) {
      reason += " (" + std::to_string(*bytes) + " bytes are free)";
    }
    remedy = "free space or raise the quota";
  } else if (code == EFBIG) {
    remedy = "a higher limit of a file's size (ulimit -f), or a file system that takes larger ones";
  }
  throw Error(std::string(attempted) + " '" + path.string() + "'", reason, remedy);
}

[[noreturn]] void fail_to_reserve(std::int64_t bytes, const std::filesystem::path& path, int code) {
  fail("reserve " + std::to_string(bytes) + " bytes for", path, code);
}

}  // namespace

FileDescriptor open_file(const std::filesystem::path& path, int flags, std::string_view attempted) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(attempted, path, errno);
  return FileDescriptor(descriptor);
}

void write_at(const FileDescriptor& file, const std::filesystem::path& path, std::int64_t offset,
              std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.get(), bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write " + std::to_string(bytes.size()) + " bytes to", path, errno);
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::int64_t read_at(const FileDescriptor& file, const std::filesystem::path& path,
                     std::int64_t offset, std::span<std::byte> bytes) {
  std::int64_t total = 0;
  while (!bytes.empty()) {
    const ssize_t received = ::pread(file.get(), bytes.data(), bytes.size(), offset + total);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) fail("read", path, errno);
    if (received == 0) break;
    total += received;
    bytes = bytes.subspan(static_cast<std::size_t>(received));
  }
  return total;
}

std::int64_t file_bytes(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("ask for the length of", path, errno);
  return info.st_size;
}

void sync_file(const std::filesystem::path& path) {
  const FileDescriptor file = open_file(path, O_RDWR, "open");
  if (::fsync(file.get()) != 0) fail("sync", path, errno);
}

void sync_directory(const std::filesystem::path& directory) {
  const FileDescriptor opened = open_file(directory, O_RDONLY | O_DIRECTORY, "open directory");
  if (::fsync(opened.get()) != 0) fail("sync directory", directory, errno);
}

void reserve_space(const std::filesystem::path& path, std::int64_t bytes) {
  if (bytes == 0) return;
  const FileDescriptor file = open_file(path, O_RDWR, "open");
  // Not posix_fallocate: where the file system knows no fallocate, libc writes every block instead.
  if (::fallocate(file.get(), 0, 0, bytes) == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) fail_to_reserve(bytes, path, errno);
  if (bytes > bytes_free(path).value_or(bytes)) fail_to_reserve(bytes, path, ENOSPC);
}

void release_space(const std::filesystem::path& path) {
  if (::truncate(path.c_str(), 0) != 0) fail("empty", path, errno);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    fail("rename '" + from.string() + "' to", to, errno);
  }
  sync_directory(directory_of(to));
}

std::filesystem::path temporary_path(const std::filesystem::path& path) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  return temporary;
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

}  // namespace lockstep
