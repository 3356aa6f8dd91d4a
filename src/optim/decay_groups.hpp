#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/optim/optimizer.hpp"
#include "lockstep/optim/weight_decay.hpp"

namespace lockstep {

/// Parts of flat tensors that are updated with one factor of weight decay.
struct DecayGroup {
  double factor = 0.0;
  std::vector<ElementRange> ranges;

  /// The group's parts of `flat`, sharing its memory, as the fused kernels take them.
  std::vector<at::Tensor> views(const at::Tensor& flat) const;
};

/// Cuts `elements` elements into groups: one, of the whole, where all decay alike.
std::vector<DecayGroup> decay_groups(const WeightDecay& decay, std::int64_t elements,
                                     std::span<const ElementRange> weights);

}  // namespace lockstep
