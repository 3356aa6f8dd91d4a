#pragma once

#include <memory>

#include "lockstep/optim/optimizer.hpp"

namespace lockstep {

/// Stochastic gradient descent as torch.optim.SGD with dampening 0:
///   g <- g + weight_decay * w;  m <- momentum * m + g;  w <- w - lr * (nesterov ? g + momentum * m
///   : m)
/// with m = 0 before the first step, which makes it the gradient then. Without momentum there is no
/// state. The gradients stay as they are. Source: Sutskever et al., 2013.
class SgdBuilder : public OptimizerBuilder {
 public:
  /// momentum (0.9), weight_decay (0.0001), nesterov (off).
  FieldTable fields() override;
  std::unique_ptr<Optimizer> build(at::Tensor values, at::Tensor gradients) const override;

 private:
  double momentum_ = 0.9;
  double weight_decay_ = 1e-4;
  bool nesterov_ = false;
};

}  // namespace lockstep
