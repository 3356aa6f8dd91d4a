#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/train/progress.hpp"
#include "lockstep/train/tally.hpp"

namespace lockstep {

/// This rank's outcomes of the epoch under way and since the last log point, added up where they
/// are computed, in the order of the windows: what is read, and when, changes no bit. Never waits
/// for the device.
class DeviceMeters {
 public:
  explicit DeviceMeters(at::Device device);

  /// As the loop's state says.
  void set(const LoopState& loop);
  /// Outcomes of a window, or none.
  void add(const at::Tensor& outcomes);
  void begin_epoch();
  void begin_interval();

  /// float64 [2, tally_fields], the epoch first; changes with the meters.
  const at::Tensor& values() const { return values_; }

 private:
  at::Tensor values_;
};

}  // namespace lockstep
