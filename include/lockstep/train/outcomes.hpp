#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/train/tally.hpp"

namespace lockstep {

/// Adds to `tally` what `scores` [samples, classes] say of `labels` (int64 [samples]): samples,
/// correct, correct_top5 and, where the tally's loss_sum is not finite, which samples' losses are
/// not. In the top five is a label that fewer than five classes score above; NaN is above
/// everything. Not collective.
void count_outcomes(const at::Tensor& scores, const at::Tensor& labels, Tally& tally);

}  // namespace lockstep
