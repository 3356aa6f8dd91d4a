#include "lockstep/base/output_drain.hpp"

#include <ctime>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lockstep {
namespace {

constexpr int most_waits = 1000;
constexpr timespec between_looks{.tv_sec = 0, .tv_nsec = 1'000'000};

/// Linux tells it at the writing end of a pipe too.
bool unread(int descriptor) noexcept {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) return false;
  int bytes = 0;
  return ::ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
}

}  // namespace

void await_output_readers() noexcept {
  for (int i = 0; i < most_waits && (unread(STDOUT_FILENO) || unread(STDERR_FILENO)); ++i) {
    ::nanosleep(&between_looks, nullptr);
  }
}

}  // namespace lockstep
