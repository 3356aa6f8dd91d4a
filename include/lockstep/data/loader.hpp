#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <vector>

#include "lockstep/base/field.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/image_transform.hpp"
#include "lockstep/data/sampler.hpp"

namespace lockstep {

/// One rank's share of a micro-batch.
struct Batch {
  MicroBatch micro_batch{};  ///< which part of which window; the same on all ranks
  std::int64_t samples = 0;  ///< on this rank; may be 0, and the rank still joins every collective
  ImageShape image_shape{};
  std::pmr::vector<float> images{};         ///< samples x C x H x W, transformed
  std::pmr::vector<std::int64_t> labels{};  ///< samples
  std::vector<std::int64_t> ids{};          ///< samples; what Dataset::read was asked for
  /// Of whoever still reads the memory, as a copy to a GPU does: its destructor waits for that.
  /// Null where nobody does.
  std::shared_ptr<void> reading{};
};

enum class SampleOrder {
  shuffled,   ///< EpochOrder: training
  sequential  ///< by id: evaluation, each sample once and none twice
};

/// How batches are made ahead of their use; never changes what is in them.
struct LoaderOptions {
  std::int64_t num_workers = 4;  ///< threads; 0: batches are made in next()
  std::int64_t prefetch = 8;     ///< batches made or in the making, beyond those handed out
};

FieldTable fields(LoaderOptions& options);

/// Where batches lie.
struct BatchMemory {
  std::pmr::memory_resource* resource = std::pmr::get_default_resource();  ///< borrowed
  /// What each worker thread calls first; may be empty.
  std::function<void()> thread_begins{};
};

/// Hands out one rank's batches of an epoch, in order. Worker threads live as long as the loader
/// and read ahead; any number of them gives the same batches. One thread at a time may call.
/// `dataset` must outlive the loader.
class Loader {
 public:
  /// `plan` is the same on all ranks. Throws UsageError where check_plan() does. For evaluation
  /// give SampleOrder::sequential, a plan without drop_last and no transform; `seed` does not
  /// matter then.
  /// Images and labels lie in `memory`.
  Loader(const Dataset& dataset, const BatchPlan& plan, SampleOrder order, std::uint64_t seed,
         int rank, int world, const LoaderOptions& options, const ImageTransform& transform = {},
         const BatchMemory& memory = {});
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  ~Loader();

  /// Goes to the window at `offset` of the epoch's order, also in the midst of another epoch.
  void start_epoch(std::int64_t epoch, std::int64_t offset = 0);

  /// The next batch, or nothing where the epoch is over (or none was started). Waits for it where
  /// it is not ready. Throws Error, naming data set and sample, where a sample could not be read,
  /// and again on each call until an epoch is started.
  std::optional<Batch> next();

  /// Gives a used batch's memory back for later ones; optional. Does not wait for who is `reading`
  /// it: that is done before it is written again.
  void recycle(Batch batch);

 private:
  class Pipeline;
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace lockstep
