#include "lockstep/train/outcomes.hpp"

#include <cmath>

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>

namespace lockstep {
namespace {

std::int64_t count(const at::Tensor& mask) {
  return mask.sum().item<std::int64_t>();
}

}  // namespace

void count_outcomes(const at::Tensor& scores, const at::Tensor& labels, Tally& tally) {
  const at::Tensor own = scores.gather(1, labels.unsqueeze(1));
  tally.samples += labels.numel();
  tally.correct += count(scores.argmax(1).eq(labels));
  tally.correct_top5 += count(scores.le(own).logical_not().sum(1).lt(5));
  if (std::isfinite(tally.loss_sum)) return;
  const at::Tensor losses =
      at::cross_entropy_loss(scores, labels, /*weight=*/{}, at::Reduction::None);
  tally.nonfinite += count(losses.isfinite().logical_not());
}

}  // namespace lockstep
