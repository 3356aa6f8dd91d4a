#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

#include "lockstep/optim/optimizer.hpp"
#include "lockstep/optim/weight_decay.hpp"

namespace lockstep {

/// Stochastic gradient descent as torch.optim.SGD with dampening 0:
///   g <- g + weight_decay * w;  m <- momentum * m + g;  w <- w - lr * (nesterov ? g + momentum * m
///   : m)
/// with m = 0 before the first step, which makes it the gradient then. Without momentum there is no
/// state. The gradients stay as they are. Source: Sutskever et al., 2013.
class SgdBuilder : public OptimizerBuilder {
 public:
  /// momentum (0.9), nesterov (off), and WeightDecay's.
  FieldTable fields() override;
  std::vector<std::string> problems() const override;
  std::unique_ptr<Optimizer> build(const at::Tensor& values, const at::Tensor& gradients,
                                   std::span<const ElementRange> weights) const override;

 private:
  double momentum_ = 0.9;
  bool nesterov_ = false;
  WeightDecay decay_;
};

}  // namespace lockstep
