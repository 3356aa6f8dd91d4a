#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lockstep/data/sampler.hpp"

namespace lockstep {

/// Walks the micro-batches of an epoch's windows from an offset on.
class EpochWalk {
 public:
  EpochWalk(std::int64_t dataset_size, const BatchPlan& plan, std::int64_t offset)
      : dataset_size_(dataset_size), plan_(plan), offset_(offset) {}

  std::optional<MicroBatch> next() {
    if (next_part_ == parts_.size()) {
      const auto window = window_at(dataset_size_, offset_, plan_);
      if (!window) return std::nullopt;
      parts_ = micro_batches(*window, plan_);
      next_part_ = 0;
      offset_ = window->end();
    }
    return parts_[next_part_++];
  }

 private:
  std::int64_t dataset_size_;
  BatchPlan plan_;
  std::int64_t offset_;
  std::vector<MicroBatch> parts_;
  std::size_t next_part_ = 0;
};

}  // namespace lockstep
