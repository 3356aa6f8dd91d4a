#include "lockstep/optim/optimizer.hpp"

#include <ATen/ops/zeros.h>

namespace lockstep {

Optimizer::Optimizer(const at::Tensor& values)
    : applied_steps_(at::zeros({}, values.options().dtype(at::kLong))) {}

void Optimizer::step(double learning_rate, const at::Tensor& bad) {
  if (!bad.defined()) {
    apply(learning_rate, std::nullopt);
    applied_steps_.add_(1);
    return;
  }
  apply(learning_rate, bad);
  applied_steps_.add_(bad.eq(0));
}

std::int64_t Optimizer::applied_steps() const {
  return applied_steps_.item<std::int64_t>();
}

void Optimizer::restore_applied_steps(std::int64_t steps) {
  applied_steps_.fill_(steps);
}

}  // namespace lockstep
