#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include <ATen/record_function.h>

namespace lockstep {

/// Marks the time from its construction to its destruction by a name, in a trace; costs next to
/// nothing where none is taken. `name` must be a literal.
class ProfileRange {
 public:
  explicit ProfileRange(const char* name) : record_(at::RecordScope::USER_SCOPE) {
    if (record_.isActive()) record_.before(name);
  }

 private:
  at::RecordFunction record_;
};

/// Writes what the calling thread computes in a few optimizer steps as a trace that
/// chrome://tracing and ui.perfetto.dev show: LibTorch's operators and the ranges marked by
/// ProfileRange. The first steps of the process are left out: they allocate.
class StepProfiler {
 public:
  static constexpr std::int64_t skipped_steps = 3;
  static constexpr std::int64_t profiled_steps = 3;

  /// An empty path: nothing is ever profiled. `gpu`: with what a GPU does, by its own clock.
  explicit StepProfiler(std::filesystem::path trace, bool gpu = false);
  StepProfiler(const StepProfiler&) = delete;
  StepProfiler& operator=(const StepProfiler&) = delete;
  /// A trace that is not complete is dropped.
  ~StepProfiler();

  /// To be called around each step of this process. step_ends() returns whether the trace was
  /// written just now and throws Error where it cannot be. Not collective.
  void step_begins();
  bool step_ends();

  /// Whether the trace ends with the step under way.
  bool ends_now() const { return recording_ && steps_ + 1 == skipped_steps + profiled_steps; }

  const std::filesystem::path& trace() const { return trace_; }

 private:
  std::filesystem::path trace_;
  bool gpu_;
  std::int64_t steps_ = 0;  // done so far
  bool recording_ = false;
};

}  // namespace lockstep
