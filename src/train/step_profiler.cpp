#include "lockstep/train/step_profiler.hpp"

#include <fstream>
#include <set>
#include <utility>

#include <torch/csrc/autograd/profiler_kineto.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

namespace profiler = torch::autograd::profiler;

std::set<profiler::ActivityType> activities(bool gpu) {
  std::set<profiler::ActivityType> result{profiler::ActivityType::CPU};
  if (gpu) result.insert(profiler::ActivityType::CUDA);
  return result;
}

}  // namespace

StepProfiler::StepProfiler(std::filesystem::path trace, bool gpu)
    : trace_(std::move(trace)), gpu_(gpu) {}

StepProfiler::~StepProfiler() {
  if (recording_) profiler::disableProfiler();
}

void StepProfiler::step_begins() {
  if (trace_.empty() || steps_ != skipped_steps) return;
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  profiler::prepareProfiler(config, activities(gpu_));
  profiler::enableProfiler(
      config, activities(gpu_),
      {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
  recording_ = true;
}

bool StepProfiler::step_ends() {
  ++steps_;
  if (!recording_ || steps_ != skipped_steps + profiled_steps) return false;
  recording_ = false;
  profiler::disableProfiler()->save(trace_.string());
  // What the library could not write it only logs.
  if (!std::ifstream(trace_).good()) {
    throw Error("write the trace " + trace_.string(), "the file is not there");
  }
  return true;
}

}  // namespace lockstep
