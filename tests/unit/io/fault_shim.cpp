// Preloaded into a program: counts the calls by which a rank changes files below a directory, and
// lets it come to harm at the one asked for.
//   FAULT_DIRECTORY  whose files count
//   FAULT_RANK       the rank, as PMI_RANK says
//   FAULT_AT         1: at the first call; 0: never
//   FAULT_KIND       kill: the process gets SIGKILL, a write half done
//                    full: from then on whatever needs space fails with ENOSPC
//                    broken: from then on every counted call fails with EIO
//   FAULT_LOG        file that each rank's calls are appended to, one a line: rank, call, path
#include <cerrno>
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
  const char* directory = setting("FAULT_DIRECTORY");
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
  const char* file = setting("FAULT_LOG");
  if (*file == '\0') return;
  char line[4096];
  const int length =
      std::snprintf(line, sizeof line, "%s %s %s\n", setting("PMI_RANK"), call, path);
  const int descriptor = ::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const auto raw_write = real<ssize_t(int, const void*, std::size_t)>("write");
  if (descriptor >= 0 && raw_write(descriptor, line, static_cast<std::size_t>(length)) < 0) abort();
  ::close(descriptor);
}

/// What becomes of a call.
struct Fate {
  bool dies = false;
  int error = 0;  ///< what it fails with
};

bool needs_space(const char* call) {
  return std::strstr(call, "write") != nullptr || std::strcmp(call, "fallocate") == 0 ||
         std::strcmp(call, "open") == 0;
}

Fate fate_of_counted(const char* call, const char* path) {
  static std::mutex mutex;
  static long count = 0;
  const std::lock_guard lock(mutex);
  log_call(call, path);
  ++count;
  const long at = std::atol(setting("FAULT_AT"));
  if (at == 0 || count < at || std::strcmp(setting("PMI_RANK"), setting("FAULT_RANK")) != 0) {
    return {};
  }
  const char* kind = setting("FAULT_KIND");
  if (std::strcmp(kind, "kill") == 0) return {.dies = count == at};
  if (std::strcmp(kind, "broken") == 0) return {.error = EIO};
  return {.error = needs_space(call) ? ENOSPC : 0};
}

Fate fate(const char* call, const char* path) {
  return counts(path) ? fate_of_counted(call, path) : Fate();
}

Fate fate(const char* call, int descriptor) {
  char path[4096];
  return counts(descriptor, path, sizeof path) ? fate_of_counted(call, path) : Fate();
}

/// The call `name` with `arguments`, or what its fate is instead.
template <typename Result, typename... Arguments>
Result call_or_fail(const Fate& fate, const char* name, Arguments... arguments) {
  if (fate.dies) {
    ::kill(::getpid(), SIGKILL);
    std::abort();
  }
  if (fate.error != 0) {
    errno = fate.error;
    return -1;
  }
  return real<Result(Arguments...)>(name)(arguments...);
}

/// As call_or_fail(), with half of the data written where the process dies.
template <typename... Offset>
ssize_t write_or_fail(const char* name, int descriptor, const void* data, std::size_t size,
                      Offset... offset) {
  const Fate found = fate(name, descriptor);
  if (found.dies) call_or_fail<ssize_t>({}, name, descriptor, data, size / 2, offset...);
  return call_or_fail<ssize_t>(found, name, descriptor, data, size, offset...);
}

int open_or_fail(const char* name, const char* path, int flags, mode_t mode) {
  const bool changes = (flags & (O_CREAT | O_TRUNC)) != 0;
  const Fate found = changes ? fate("open", path) : Fate();
  // Not call_or_fail(): a function with "..." is called otherwise on some processors.
  if (found.dies || found.error != 0) return call_or_fail<int>(found, name);
  return real<int(const char*, int, ...)>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, std::size_t size) {
  return write_or_fail("write", descriptor, data, size);
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
  return call_or_fail<ssize_t>(fate("writev", descriptor), "writev", descriptor, parts, count);
}
ssize_t pwrite(int descriptor, const void* data, std::size_t size, off_t offset) {
  return write_or_fail("pwrite", descriptor, data, size, offset);
}
ssize_t pwrite64(int descriptor, const void* data, std::size_t size, off64_t offset) {
  return write_or_fail("pwrite64", descriptor, data, size, offset);
}
int fsync(int descriptor) {
  return call_or_fail<int>(fate("fsync", descriptor), "fsync", descriptor);
}
int fdatasync(int descriptor) {
  return call_or_fail<int>(fate("fsync", descriptor), "fdatasync", descriptor);
}
int ftruncate(int descriptor, off_t size) {
  return call_or_fail<int>(fate("ftruncate", descriptor), "ftruncate", descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) {
  return call_or_fail<int>(fate("ftruncate", descriptor), "ftruncate64", descriptor, size);
}
int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  return call_or_fail<int>(fate("fallocate", descriptor), "fallocate", descriptor, mode, offset,
                           size);
}
int fallocate64(int descriptor, int mode, off64_t offset, off64_t size) {
  return call_or_fail<int>(fate("fallocate", descriptor), "fallocate64", descriptor, mode, offset,
                           size);
}
int truncate(const char* path, off_t size) {
  return call_or_fail<int>(fate("truncate", path), "truncate", path, size);
}
int truncate64(const char* path, off64_t size) {
  return call_or_fail<int>(fate("truncate", path), "truncate64", path, size);
}
int rename(const char* from, const char* to) {
  return call_or_fail<int>(fate("rename", to), "rename", from, to);
}
int remove(const char* path) {
  return call_or_fail<int>(fate("unlink", path), "remove", path);
}
int unlink(const char* path) {
  return call_or_fail<int>(fate("unlink", path), "unlink", path);
}
int unlinkat(int descriptor, const char* path, int flags) {
  return call_or_fail<int>(fate("unlink", path), "unlinkat", descriptor, path, flags);
}
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_or_fail("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_or_fail("open64", path, flags, mode);
}
}
