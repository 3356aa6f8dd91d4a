#include "lockstep/optim/sgd.hpp"

#include <utility>

#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros_like.h>

#include "lockstep/base/error.hpp"

#include "optim/decay_groups.hpp"

namespace lockstep {
namespace {

struct SgdOptions {
  double momentum;
  bool nesterov;
};

class Sgd : public Optimizer {
 public:
  Sgd(const at::Tensor& values, const at::Tensor& gradients, const std::vector<DecayGroup>& groups,
      const SgdOptions& options)
      : Optimizer(values), options_(options) {
    if (options_.momentum != 0.0) momentum_ = at::zeros_like(values);
    for (const DecayGroup& group : groups) {
      parts_.push_back({group.factor, group.views(values), group.views(gradients), {}});
      if (momentum_.defined()) parts_.back().momentum = group.views(momentum_);
    }
  }

  std::vector<OptimizerState> state() override {
    if (!momentum_.defined()) return {};
    return {{"momentum", momentum_}};
  }

 private:
  struct Part {
    double weight_decay;
    std::vector<at::Tensor> values;
    std::vector<at::Tensor> gradients;
    std::vector<at::Tensor> momentum;  // empty where there is none
  };

  void apply(double learning_rate, const std::optional<at::Tensor>& found_inf) override {
    // With a zeroed buffer and no dampening the first step needs no case of its own, which keeps a
    // restored state and a fresh one alike.
    for (const Part& part : parts_) {
      at::_fused_sgd_(part.values, part.gradients, part.momentum, part.weight_decay,
                      options_.momentum, learning_rate, /*dampening=*/0.0, options_.nesterov,
                      /*maximize=*/false, /*is_first_step=*/false, /*grad_scale=*/{}, found_inf);
    }
  }

  SgdOptions options_;
  at::Tensor momentum_;  // undefined where there is none
  std::vector<Part> parts_;
};

}  // namespace

FieldTable SgdBuilder::fields() {
  FieldTable table{
      field("momentum", momentum_, "sgd: decay of the running sum of gradients; 0: none",
            from_up_to(0.0, 1.0)),
      field("nesterov", nesterov_, "sgd: look ahead along the momentum (needs momentum above 0)")};
  for (Field& entry : lockstep::fields(decay_)) table.push_back(std::move(entry));
  return table;
}

std::vector<std::string> SgdBuilder::problems() const {
  if (!nesterov_ || momentum_ != 0.0) return {};
  return {"nesterov needs a momentum: set momentum above 0, e.g. 0.9, or turn nesterov off"};
}

std::unique_ptr<Optimizer> SgdBuilder::build(const at::Tensor& values, const at::Tensor& gradients,
                                             std::span<const ElementRange> weights) const {
  throw_problems("choose sgd's options", problems());
  return std::make_unique<Sgd>(values, gradients, decay_groups(decay_, values.numel(), weights),
                               SgdOptions{momentum_, nesterov_});
}

}  // namespace lockstep
