#include "lockstep/base/wake_event.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>

#include "lockstep/base/error.hpp"

namespace lockstep {

WakeEvent::WakeEvent() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!descriptor_) {
    throw Error("make an event to wake a thread with", errno_text(errno),
                "ulimit -n, which limits the files a process may have open");
  }
}

void WakeEvent::set() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(descriptor_.get(), &one, sizeof one));
}

bool WakeEvent::wait_for(double seconds) const {
  using Clock = std::chrono::steady_clock;
  constexpr double longest = 1e6;  // in milliseconds it must be an int
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    pollfd source{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
    const int ready =
        ::poll(&source, 1, static_cast<int>(std::ceil(std::clamp(left, 0.0, longest) * 1e3)));
    if (ready > 0) return true;
    if (left <= 0.0) return false;
  }
}

}  // namespace lockstep
