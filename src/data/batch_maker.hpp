#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lockstep/data/epoch_order.hpp"
#include "lockstep/data/image_transform.hpp"
#include "lockstep/data/loader.hpp"

namespace lockstep {

/// Reads one rank's share of micro-batches. Any number of threads may use one maker at once.
class BatchMaker {
 public:
  BatchMaker(const Dataset& dataset, ImageTransform transform, std::uint64_t seed, int rank,
             int world)
      : dataset_(dataset),
        transform_(std::move(transform)),
        seed_(seed),
        rank_(rank),
        world_(world) {}

  /// Fills `batch`, whose memory is reused. `order` tells the sample at a position; without one,
  /// positions are sample ids. `epoch` decides augmentation. Throws Error, naming data set and
  /// sample, where a read fails.
  void make(Batch& batch, const MicroBatch& micro_batch, std::int64_t epoch,
            const std::optional<EpochOrder>& order) const;

  const Dataset& dataset() const { return dataset_; }

 private:
  std::int64_t read(std::int64_t id, std::int64_t epoch, std::span<float> image,
                    std::vector<float>& original) const;

  const Dataset& dataset_;
  const ImageTransform transform_;
  std::uint64_t seed_;
  int rank_;
  int world_;
};

}  // namespace lockstep
