#include "lockstep/train/outcomes.hpp"

#include <cmath>
#include <span>

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

namespace lockstep {
namespace {

at::Tensor count(const at::Tensor& mask) {
  return mask.sum().to(at::kDouble);
}

at::Tensor nonfinite_losses(const ForwardPass& pass, const at::Tensor& loss_sum) {
  if (loss_sum.is_cpu() && std::isfinite(loss_sum.item<double>())) return at::zeros_like(loss_sum);
  const at::Tensor losses = at::cross_entropy_loss(pass.logits.detach(), pass.labels,
                                                   /*weight=*/{}, at::Reduction::None);
  return count(losses.isfinite().logical_not());
}

}  // namespace

at::Tensor outcomes_of(const ForwardPass& pass) {
  const at::Tensor scores = pass.logits.detach();
  const at::Tensor own = scores.gather(1, pass.labels.unsqueeze(1));
  const at::Tensor loss_sum = pass.loss_sum.detach().to(at::kDouble);
  return at::stack({loss_sum, count(scores.argmax(1).eq(pass.labels)),
                    count(scores.le(own).logical_not().sum(1).lt(5)),
                    nonfinite_losses(pass, loss_sum),
                    at::full_like(loss_sum, static_cast<double>(pass.labels.numel()))});
}

void add(at::Tensor& sum, const at::Tensor& more) {
  if (!more.defined()) return;
  if (sum.defined()) {
    sum.add_(more);
  } else {
    sum = more.clone();
  }
}

Tally tally_of(const at::Tensor& outcomes) {
  if (!outcomes.defined()) return {};
  const at::Tensor here = outcomes.cpu();
  return tally_of(std::span(here.const_data_ptr<double>(), tally_fields));
}

at::Tensor outcomes_as(const Tally& tally, at::Device device) {
  return at::tensor(numbers_of(tally), at::kDouble).to(device);
}

}  // namespace lockstep
