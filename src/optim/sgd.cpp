#include "lockstep/optim/sgd.hpp"

#include <utility>

#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros_like.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

class Sgd : public Optimizer {
 public:
  Sgd(at::Tensor values, at::Tensor gradients, double momentum, double weight_decay, bool nesterov)
      : values_(std::move(values)),
        gradients_(std::move(gradients)),
        momentum_(momentum),
        weight_decay_(weight_decay),
        nesterov_(nesterov) {
    if (momentum_ != 0.0) buffers_.push_back(at::zeros_like(values_));
  }

  std::vector<OptimizerState> state() override {
    if (buffers_.empty()) return {};
    return {{"momentum", buffers_.front()}};
  }

 private:
  void apply(double learning_rate) override {
    // With a zeroed buffer and no dampening the first step needs no case of its own, which keeps a
    // restored state and a fresh one alike.
    at::_fused_sgd_(values_, gradients_, buffers_, weight_decay_, momentum_, learning_rate,
                    /*dampening=*/0.0, nesterov_, /*maximize=*/false, /*is_first_step=*/false);
  }

  at::Tensor values_;
  at::Tensor gradients_;
  std::vector<at::Tensor> buffers_;  // the momentum, where there is one
  double momentum_;
  double weight_decay_;
  bool nesterov_;
};

}  // namespace

FieldTable SgdBuilder::fields() {
  return {field("momentum", momentum_, "decay of the running sum of gradients; 0: none",
                from_up_to(0.0, 1.0)),
          field("weight_decay", weight_decay_, "L2 penalty's factor, added to the gradient",
                at_least(0.0)),
          field("nesterov", nesterov_, "look ahead along the momentum (needs momentum above 0)")};
}

std::unique_ptr<Optimizer> SgdBuilder::build(at::Tensor values, at::Tensor gradients) const {
  if (nesterov_ && momentum_ == 0.0) {
    throw UsageError("choose sgd's options", "nesterov needs a momentum",
                     "set momentum above 0, e.g. 0.9, or turn nesterov off");
  }
  return std::make_unique<Sgd>(std::move(values), std::move(gradients), momentum_, weight_decay_,
                               nesterov_);
}

}  // namespace lockstep
