// Preloaded into a program: counts the calls by which a rank changes files below a directory, and
// kills the process with SIGKILL at the one asked for. A write is killed half done.
//   KILL_DIRECTORY  whose files count
//   KILL_RANK       the rank, as PMI_RANK says
//   KILL_AT         1: at the first call; 0: never
//   KILL_LOG        file that each rank's calls are appended to, one a line: rank, call, path
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool counts(const char* path) {
  const char* directory = setting("KILL_DIRECTORY");
  return *directory != '\0' && std::strncmp(path, directory, std::strlen(directory)) == 0;
}

bool counts(int descriptor, char* path, std::size_t size) {
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, path, size - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return counts(path);
}

void log_call(const char* call, const char* path) {
  const char* file = setting("KILL_LOG");
  if (*file == '\0') return;
  char line[4096];
  const int length =
      std::snprintf(line, sizeof line, "%s %s %s\n", setting("PMI_RANK"), call, path);
  const int descriptor = ::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const auto raw_write = real<ssize_t(int, const void*, std::size_t)>("write");
  if (descriptor >= 0 && raw_write(descriptor, line, static_cast<std::size_t>(length)) < 0) abort();
  ::close(descriptor);
}

/// Counts a call; true where the process is to die in it.
bool is_last(const char* call, const char* path) {
  static std::mutex mutex;
  static long count = 0;
  const std::lock_guard lock(mutex);
  log_call(call, path);
  ++count;
  return std::strcmp(setting("PMI_RANK"), setting("KILL_RANK")) == 0 &&
         count == std::atol(setting("KILL_AT"));
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  std::abort();
}

void before_path_call(const char* call, const char* path) {
  if (counts(path) && is_last(call, path)) die();
}

void before_descriptor_call(const char* call, int descriptor) {
  char path[4096];
  if (counts(descriptor, path, sizeof path) && is_last(call, path)) die();
}

/// Whether a write is the last call.
bool dies_writing(const char* call, int descriptor) {
  char path[4096];
  return counts(descriptor, path, sizeof path) && is_last(call, path);
}

int open_file(const char* name, const char* path, int flags, mode_t mode) {
  if ((flags & (O_CREAT | O_TRUNC)) != 0) before_path_call("open", path);
  return real<int(const char*, int, ...)>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

ssize_t positioned_write(const char* name, int descriptor, const void* data, std::size_t size,
                         off_t offset) {
  const auto call = real<ssize_t(int, const void*, std::size_t, off_t)>(name);
  if (!dies_writing("pwrite", descriptor)) return call(descriptor, data, size, offset);
  call(descriptor, data, size / 2, offset);
  die();
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, std::size_t size) {
  const auto call = real<ssize_t(int, const void*, std::size_t)>("write");
  if (!dies_writing("write", descriptor)) return call(descriptor, data, size);
  call(descriptor, data, size / 2);
  die();
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
  before_descriptor_call("writev", descriptor);
  return real<ssize_t(int, const iovec*, int)>("writev")(descriptor, parts, count);
}
ssize_t pwrite(int descriptor, const void* data, std::size_t size, off_t offset) {
  return positioned_write("pwrite", descriptor, data, size, offset);
}
ssize_t pwrite64(int descriptor, const void* data, std::size_t size, off64_t offset) {
  return positioned_write("pwrite64", descriptor, data, size, offset);
}
int fsync(int descriptor) {
  before_descriptor_call("fsync", descriptor);
  return real<int(int)>("fsync")(descriptor);
}
int fdatasync(int descriptor) {
  before_descriptor_call("fsync", descriptor);
  return real<int(int)>("fdatasync")(descriptor);
}
int ftruncate(int descriptor, off_t size) {
  before_descriptor_call("ftruncate", descriptor);
  return real<int(int, off_t)>("ftruncate")(descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) {
  before_descriptor_call("ftruncate", descriptor);
  return real<int(int, off64_t)>("ftruncate64")(descriptor, size);
}
int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  before_descriptor_call("fallocate", descriptor);
  return real<int(int, int, off_t, off_t)>("fallocate")(descriptor, mode, offset, size);
}
int fallocate64(int descriptor, int mode, off64_t offset, off64_t size) {
  before_descriptor_call("fallocate", descriptor);
  return real<int(int, int, off64_t, off64_t)>("fallocate64")(descriptor, mode, offset, size);
}
int truncate(const char* path, off_t size) {
  before_path_call("truncate", path);
  return real<int(const char*, off_t)>("truncate")(path, size);
}
int truncate64(const char* path, off64_t size) {
  before_path_call("truncate", path);
  return real<int(const char*, off64_t)>("truncate64")(path, size);
}
int rename(const char* from, const char* to) {
  before_path_call("rename", to);
  return real<int(const char*, const char*)>("rename")(from, to);
}
int remove(const char* path) {
  before_path_call("unlink", path);
  return real<int(const char*)>("remove")(path);
}
int unlink(const char* path) {
  before_path_call("unlink", path);
  return real<int(const char*)>("unlink")(path);
}
int unlinkat(int descriptor, const char* path, int flags) {
  before_path_call("unlink", path);
  return real<int(int, const char*, int)>("unlinkat")(descriptor, path, flags);
}
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file("open64", path, flags, mode);
}
}
