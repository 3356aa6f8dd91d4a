#include "control/stack_dump.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <execinfo.h>
#include <unistd.h>

namespace lockstep {
namespace {

int dump_signal() {
  return SIGRTMIN + 5;
}

extern "C" void dump_on_signal(int) {
  const int kept = errno;
  dump_own_stack();
  errno = kept;
}

}  // namespace

void dump_own_stack() noexcept {
  std::array<void*, 64> frames{};
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  backtrace_symbols_fd(frames.data(), depth, STDERR_FILENO);
}

void prepare_stack_dump() {
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);  // loads the unwinder
}

StackDumpSignal::StackDumpSignal() {
  prepare_stack_dump();
  struct sigaction action {};
  action.sa_handler = dump_on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(dump_signal(), &action, nullptr);
}

StackDumpSignal::~StackDumpSignal() {
  std::signal(dump_signal(), SIG_DFL);
}

void StackDumpSignal::ask(pthread_t thread) {
  pthread_kill(thread, dump_signal());
}

}  // namespace lockstep
