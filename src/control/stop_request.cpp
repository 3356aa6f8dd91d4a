#include "lockstep/control/stop_request.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

constexpr std::array<int, 4> handled{SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

// A signal handler can reach nothing but static storage: the one exception to "no globals". Atomic
// rather than volatile, since any thread may be the one that is interrupted.
std::atomic<int> first_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "only then may a signal handler touch it");
std::atomic<std::int64_t> first_time = 0;  // nanoseconds; 0: none yet
std::atomic<std::int64_t> patience_ns = 0;
std::atomic<bool> heeded = false;
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "see above");
std::array<struct sigaction, handled.size()> former_actions{};
bool installed = false;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // may be called by a signal handler
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

extern "C" void note_signal(int signal) {
  int none = 0;
  if (first_signal.compare_exchange_strong(none, signal)) {
    first_time = now_ns();
    return;
  }
  const std::int64_t since = first_time;
  if (heeded || since == 0 || now_ns() - since < patience_ns) return;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);  // is delivered, and ends the process, when this handler returns
}

}  // namespace

StopRequest::StopRequest(std::chrono::nanoseconds patience) {
  check(!installed, "handle signals", "another StopRequest of this process does already");
  first_signal = 0;
  first_time = 0;
  patience_ns = patience.count();
  heeded = false;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], &action, &former_actions[i]);
  }
  installed = true;
}

StopRequest::~StopRequest() {
  for (std::size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], &former_actions[i], nullptr);
  }
  installed = false;
}

void StopRequest::ignore_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], &action, nullptr);
    former_actions[i] = action;  // what a StopRequest that still lives will give back
  }
}

void StopRequest::heed() {
  heeded = true;
}

int StopRequest::signal() const {
  return first_signal;
}

std::string StopRequest::signal_name(int signal) {
  switch (signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGUSR1:
      return "SIGUSR1";
    case SIGUSR2:
      return "SIGUSR2";
    default:
      return "signal " + std::to_string(signal);
  }
}

}  // namespace lockstep
