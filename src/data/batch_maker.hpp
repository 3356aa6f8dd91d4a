#pragma once

#include <optional>

#include "lockstep/data/epoch_order.hpp"
#include "lockstep/data/loader.hpp"

namespace lockstep {

/// Reads one rank's share of micro-batches. Any number of threads may use one maker at once.
class BatchMaker {
 public:
  BatchMaker(const Dataset& dataset, int rank, int world)
      : dataset_(dataset), rank_(rank), world_(world) {}

  /// Fills `batch`, whose memory is reused. `order` tells the sample at a position; without one,
  /// positions are sample ids. Throws Error, naming data set and sample, where a read fails.
  void make(Batch& batch, const MicroBatch& micro_batch,
            const std::optional<EpochOrder>& order) const;

  const Dataset& dataset() const { return dataset_; }

 private:
  const Dataset& dataset_;
  int rank_;
  int world_;
};

}  // namespace lockstep
