#include "lockstep/control/fault_injector.hpp"

#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

constexpr std::array<std::pair<std::string_view, FaultKind>, 9> kinds{
    {{"throw", FaultKind::exception},
     {"bad_alloc", FaultKind::bad_alloc},
     {"segv", FaultKind::segv},
     {"abort", FaultKind::abort},
     {"kill", FaultKind::kill},
     {"stop", FaultKind::stop},
     {"stall", FaultKind::stall},
     {"write_error", FaultKind::write_error},
     {"nan", FaultKind::nan}}};

[[noreturn]] void refuse(std::string_view spec, std::string reason) {
  throw UsageError(
      "read fault = " + std::string(spec), std::move(reason),
      "e.g. rank=1,phase=step,step=5,kind=throw; phases: setup, load, step, "
      "checkpoint, evaluate, finish; kinds: throw, bad_alloc, segv, abort, kill, stop, "
      "stall, write_error, nan");
}

std::int64_t number(std::string_view spec, std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || rest != end || value < 0 || value > 1'000'000'000'000) {
    refuse(spec, std::string(text) + " is no number that a rank or step can have");
  }
  return value;
}

FaultKind kind_named(std::string_view spec, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [known, kind] : kinds) {
    if (known == name) return kind;
    names.emplace_back(known);
  }
  refuse(spec, unknown_name_text("kind", name, names));
}

/// Cuts the first of several parts off `rest`.
std::string_view next_part(std::string_view& rest) {
  const std::size_t comma = rest.find(',');
  const std::string_view part = rest.substr(0, comma);
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  return trimmed(part);
}

void fail_all_writes() {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 0;
  setrlimit(RLIMIT_FSIZE, &limit);
}

// Not by a null pointer: some systems let root write there.
void write_where_nothing_may() {
  void* const page = ::mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
}

}  // namespace

Fault parse_fault(std::string_view text) {
  Fault fault;
  std::optional<Phase> phase;
  std::optional<FaultKind> kind;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = next_part(rest);
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (name == "rank") {
      fault.rank = static_cast<int>(number(text, value));
    } else if (name == "step") {
      fault.step = number(text, value);
    } else if (name == "phase") {
      phase = phase_named(value);
      if (!phase) refuse(text, "there is no phase " + std::string(value));
    } else if (name == "kind") {
      kind = kind_named(text, value);
    } else {
      refuse(text, "there is no '" + std::string(part) + "' in a fault");
    }
  }
  if (!phase || !kind) refuse(text, "phase and kind must be given");
  if (*kind == FaultKind::nan && *phase != Phase::step) {
    refuse(text, "kind nan is one of phase step");
  }
  if (*phase == Phase::setup && fault.step > 0) refuse(text, "phase setup is before any step");
  fault.phase = *phase;
  fault.kind = *kind;
  return fault;
}

FaultInjector::FaultInjector(const std::string& spec, int rank) {
  if (spec == "none") return;
  fault_ = parse_fault(spec);
  armed_ = fault_.rank == rank;
}

bool FaultInjector::spoils(std::int64_t step) {
  if (!armed_ || fault_.kind != FaultKind::nan || step < fault_.step) return false;
  armed_ = false;
  return true;
}

void FaultInjector::strike(Phase phase, std::int64_t step) {
  if (fault_.kind == FaultKind::nan || phase != fault_.phase || step < fault_.step) return;
  armed_ = false;
  switch (fault_.kind) {
    case FaultKind::exception:
      throw Error(
          "go on in phase " + std::string(phase_name(phase)) + ", step " + std::to_string(step),
          "a fault was asked for", "leaving the setting fault alone");
    case FaultKind::bad_alloc:
      throw std::bad_alloc();
    case FaultKind::segv:
      return write_where_nothing_may();
    case FaultKind::abort:
      std::abort();
    case FaultKind::kill:
      std::raise(SIGKILL);
      return;
    case FaultKind::stop:
      std::raise(SIGSTOP);
      return;
    case FaultKind::stall:
      while (true) pause();
    case FaultKind::write_error:
      return fail_all_writes();
    case FaultKind::nan:
      return;
  }
}

}  // namespace lockstep
