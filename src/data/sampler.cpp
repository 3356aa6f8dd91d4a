#include "lockstep/data/sampler.hpp"

#include <algorithm>
#include <string>

#include "lockstep/base/error.hpp"
#include "lockstep/base/shares.hpp"

namespace lockstep {
namespace {

std::int64_t remaining(std::int64_t dataset_size, std::int64_t offset) {
  if (offset < 0 || offset > dataset_size) {
    throw Error("find a position in an epoch", "offset " + std::to_string(offset) +
                                                   " is outside the " +
                                                   std::to_string(dataset_size) + " samples");
  }
  return dataset_size - offset;
}

}  // namespace

void check_plan(std::int64_t dataset_size, const BatchPlan& plan) {
  const char* const attempted = "cut the data into batches";
  const std::string batch = "a global batch of " + std::to_string(plan.global_batch) + " samples";
  if (plan.global_batch < 1) {
    throw UsageError(attempted, batch + " is not positive", "set batch_size to at least 1");
  }
  if (plan.grad_accum_steps < 1 || plan.grad_accum_steps > plan.global_batch) {
    throw UsageError(
        attempted,
        batch + " cannot be accumulated in " + std::to_string(plan.grad_accum_steps) + " steps",
        "set grad_accum_steps to between 1 and " + std::to_string(plan.global_batch));
  }
  if (dataset_size < 1) throw UsageError(attempted, "the data set holds no samples");
  if (plan.drop_last && dataset_size < plan.global_batch) {
    throw UsageError(attempted,
                     "the data set's " + std::to_string(dataset_size) + " samples do not fill " +
                         batch + ", and drop_last leaves out what does not fill one",
                     "set a smaller batch_size, or --no-drop_last");
  }
}

std::optional<SampleRange> window_at(std::int64_t dataset_size, std::int64_t offset,
                                     const BatchPlan& plan) {
  const std::int64_t samples = std::min(plan.global_batch, remaining(dataset_size, offset));
  if (samples == 0 || (plan.drop_last && samples < plan.global_batch)) return std::nullopt;
  return SampleRange{offset, samples};
}

std::vector<MicroBatch> micro_batches(const SampleRange& window, const BatchPlan& plan) {
  const std::int64_t size = ceil_div(plan.global_batch, plan.grad_accum_steps);
  std::vector<MicroBatch> parts;
  for (std::int64_t first = window.first; first < window.end(); first += size) {
    const SampleRange range{first, std::min(size, window.end() - first)};
    parts.push_back({.window = window,
                     .range = range,
                     .index = static_cast<std::int64_t>(parts.size()),
                     .last_of_window = range.end() == window.end()});
  }
  return parts;
}

SampleRange share_of(const SampleRange& range, int rank, int world) {
  if (rank < 0 || rank >= world) {
    throw Error("share samples among ranks",
                "there is no rank " + std::to_string(rank) + " of " + std::to_string(world));
  }
  const Share share = balanced_share(range.samples, rank, world);
  return {range.first + share.start, share.count};
}

std::int64_t windows_in_epoch(std::int64_t dataset_size, const BatchPlan& plan,
                              std::int64_t offset) {
  const std::int64_t samples = remaining(dataset_size, offset);
  return plan.drop_last ? samples / plan.global_batch : ceil_div(samples, plan.global_batch);
}

std::int64_t samples_in_epoch(std::int64_t dataset_size, const BatchPlan& plan,
                              std::int64_t offset) {
  const std::int64_t samples = remaining(dataset_size, offset);
  return plan.drop_last ? samples - samples % plan.global_batch : samples;
}

}  // namespace lockstep
