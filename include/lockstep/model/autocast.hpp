#pragma once

#include <c10/core/DeviceType.h>

#include "lockstep/base/dtype.hpp"

namespace lockstep {

/// Mixed precision on a kind of device for the calling thread, from construction to destruction:
/// where `enabled`, convolutions and matrix products compute in `dtype`, and parameters keep
/// theirs. On leaving, the state before is restored and the cache of narrowed weights dropped, so
/// that neither an optimizer step nor an evaluation without gradients leaves stale weights behind.
/// Hold one around forward pass and loss; the backward pass needs none.
class AutocastScope {
 public:
  explicit AutocastScope(bool enabled, DType dtype = DType::bfloat16,
                         at::DeviceType device = at::kCPU);
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
  ~AutocastScope();

 private:
  at::DeviceType device_;
  bool enabled_before_;
  DType dtype_before_;
};

}  // namespace lockstep
