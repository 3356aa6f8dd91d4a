#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/data/loader.hpp"

namespace lockstep {

/// A loader's batches, epoch after epoch.
class EndlessBatches {
 public:
  /// `loader` is borrowed, and nobody else's.
  explicit EndlessBatches(Loader& loader) : loader_(loader) { loader.start_epoch(epoch_); }

  Batch next() {
    std::optional<Batch> batch = loader_.next();
    if (!batch) {
      loader_.start_epoch(++epoch_);
      batch = loader_.next();
    }
    check(batch.has_value(), "take batches without end", "an epoch has none");
    return *std::move(batch);
  }

 private:
  Loader& loader_;
  std::int64_t epoch_ = 0;
};

}  // namespace lockstep
