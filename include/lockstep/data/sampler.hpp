#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

/// Consecutive positions [first, first + samples) of an epoch's order.
struct SampleRange {
  std::int64_t first = 0;
  std::int64_t samples = 0;

  std::int64_t end() const { return first + samples; }
  bool operator==(const SampleRange&) const = default;
};

/// How an epoch is cut. A window is what one optimizer step learns from: `global_batch` samples
/// over all ranks, the last of an epoch maybe fewer, or dropped. It is worked through in
/// micro-batches of ceil(global_batch / grad_accum_steps) samples over all ranks, the last maybe
/// fewer.
struct BatchPlan {
  std::int64_t global_batch = 1;
  std::int64_t grad_accum_steps = 1;
  bool drop_last = false;
};

/// A part of a window: what all ranks together work through at once.
struct MicroBatch {
  SampleRange window;
  SampleRange range;       ///< lies within `window`
  std::int64_t index = 0;  ///< within the window, from 0
  bool last_of_window = false;
};

/// Throws UsageError, with the numbers, where no window can be formed: sizes below 1, more
/// accumulation steps than samples in a global batch, an empty data set, or drop_last with fewer
/// samples than one global batch.
void check_plan(std::int64_t dataset_size, const BatchPlan& plan);

/// The window that starts at `offset`, or nothing where the epoch is over.
std::optional<SampleRange> window_at(std::int64_t dataset_size, std::int64_t offset,
                                     const BatchPlan& plan);

/// The window's micro-batches, in order; a short window has fewer of them, of the same size.
std::vector<MicroBatch> micro_batches(const SampleRange& window, const BatchPlan& plan);

/// Rank `rank`'s part of `range`: contiguous, in rank order; parts differ by at most one sample,
/// the larger ones on the lower ranks. May be empty.
SampleRange share_of(const SampleRange& range, int rank, int world);

/// Windows from `offset` to the end of the epoch.
std::int64_t windows_in_epoch(std::int64_t dataset_size, const BatchPlan& plan,
                              std::int64_t offset = 0);

/// Samples in those windows: what the epoch consumes from `offset` on.
std::int64_t samples_in_epoch(std::int64_t dataset_size, const BatchPlan& plan,
                              std::int64_t offset = 0);

}  // namespace lockstep
