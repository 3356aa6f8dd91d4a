#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/train/forward.hpp"
#include "lockstep/train/tally.hpp"

namespace lockstep {

/// What a batch's scores say of its labels, as sums that add up: float64 [tally_fields], in the
/// order of a Tally's fields, on the device of the pass, for which it does not wait. In the top
/// five is a label that fewer than five classes score above; NaN is above everything. Which
/// samples' losses are not finite is looked at on a CPU only where the sum is not. Not collective.
at::Tensor outcomes_of(const ForwardPass& pass);

/// Adds `more` to `sum`; either may be none. Does not wait.
void add(at::Tensor& sum, const at::Tensor& more);

/// What outcomes, or a sum of them, say: waits for their device. None: nothing.
Tally tally_of(const at::Tensor& outcomes);

/// The other way round, on `device`.
at::Tensor outcomes_as(const Tally& tally, at::Device device);

}  // namespace lockstep
