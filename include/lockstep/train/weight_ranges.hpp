#pragma once

#include <vector>

#include "lockstep/model/flat_layout.hpp"
#include "lockstep/optim/optimizer.hpp"

namespace lockstep {

/// Where the weights of convolutions and linear layers lie: tensors of two or more dimensions.
/// Those of one are norms and biases. Neighbours are joined.
std::vector<ElementRange> weight_ranges(const FlatLayout& layout);

}  // namespace lockstep
