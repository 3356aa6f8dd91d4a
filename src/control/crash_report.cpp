#include "lockstep/control/crash_report.hpp"

#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/output_drain.hpp"

#include "control/stack_dump.hpp"

namespace lockstep {
namespace {

constexpr std::array<int, 5> deadly{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// A signal handler can reach nothing but static storage.
std::array<char, 300> who{};
std::atomic<Heartbeat*> watched{nullptr};
std::array<struct sigaction, deadly.size()> former_actions{};
alignas(16) std::array<char, 64 * 1024> handler_stack{};  // an overflown stack cannot run a handler

std::string_view name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    default:
      return "SIGABRT";
  }
}

// A line put together without memory of its own.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t count = std::min(text.size(), text_.size() - length_);
    std::memcpy(text_.data() + length_, text.data(), count);
    length_ += count;
    return *this;
  }
  Line& operator<<(std::int64_t number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  void write() const { static_cast<void>(!::write(STDERR_FILENO, text_.data(), length_)); }

 private:
  std::array<char, 512> text_{};
  std::size_t length_ = 0;
};

extern "C" void report_crash(int signal) {
  Line line;
  line << who.data() << name_of(signal);
  if (Heartbeat* const heartbeat = watched.load()) {
    const Beat beat = heartbeat->slot().load();
    line << " in phase " << phase_name(beat.phase) << ", step " << beat.step;
  }
  (line << "; its stack:\n").write();
  dump_own_stack();
  await_output_readers();
  // Last, since the other ranks end the job when they see it.
  if (Heartbeat* const heartbeat = watched.load()) heartbeat->slot().signal.store(signal);
  std::raise(signal);  // as it would have been: SA_RESETHAND has restored the default action
}

}  // namespace

CrashReport::CrashReport(int rank, const std::string& host, Heartbeat& heartbeat) {
  check(watched.load() == nullptr, "report crashes", "another CrashReport of this process does");
  prepare_stack_dump();
  const std::string text =
      "lockstep: [rank " + std::to_string(rank) + "] on " + host + ": died of ";
  who.fill(0);
  text.copy(who.data(), who.size() - 1);
  watched.store(&heartbeat);
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = report_crash;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  for (std::size_t i = 0; i < deadly.size(); ++i) {
    sigaction(deadly[i], &action, &former_actions[i]);
  }
}

CrashReport::~CrashReport() {
  for (std::size_t i = 0; i < deadly.size(); ++i) {
    sigaction(deadly[i], &former_actions[i], nullptr);
  }
  watched.store(nullptr);
}

}  // namespace lockstep
