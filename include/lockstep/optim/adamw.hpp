#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

#include "lockstep/optim/optimizer.hpp"
#include "lockstep/optim/weight_decay.hpp"

namespace lockstep {

/// Adam with decoupled weight decay, as torch.optim.AdamW. With t counted from 1 by applied steps:
///   w <- w - lr * weight_decay * w
///   m <- beta1 * m + (1 - beta1) * g;  v <- beta2 * v + (1 - beta2) * g^2
///   w <- w - lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)
/// The state is "exp_avg" (m) and "exp_avg_sq" (v). The gradients stay as they are. Source:
/// Loshchilov and Hutter, Decoupled weight decay regularization, 2019.
class AdamWBuilder : public OptimizerBuilder {
 public:
  /// beta1 (0.9), beta2 (0.999), eps (1e-8), and WeightDecay's.
  FieldTable fields() override;
  std::unique_ptr<Optimizer> build(const at::Tensor& values, const at::Tensor& gradients,
                                   std::span<const ElementRange> weights) const override;

 private:
  double beta1_ = 0.9;
  double beta2_ = 0.999;
  double eps_ = 1e-8;
  WeightDecay decay_;
};

}  // namespace lockstep
