#include "lockstep/optim/adamw.hpp"

#include <utility>

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/add.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "optim/decay_groups.hpp"

namespace lockstep {
namespace {

struct AdamWOptions {
  double beta1;
  double beta2;
  double eps;
};

class AdamW : public Optimizer {
 public:
  AdamW(const at::Tensor& values, const at::Tensor& gradients,
        const std::vector<DecayGroup>& groups, const AdamWOptions& options)
      : Optimizer(values),
        options_(options),
        exp_avg_(at::zeros_like(values)),
        exp_avg_sq_(at::zeros_like(values)),
        step_(at::zeros({}, values.options().dtype(at::kFloat))) {
    for (const DecayGroup& group : groups) {
      parts_.push_back({group.factor, group.views(values), group.views(gradients),
                        group.views(exp_avg_), group.views(exp_avg_sq_),
                        std::vector<at::Tensor>(group.ranges.size(), step_)});
    }
  }

  std::vector<OptimizerState> state() override {
    return {{"exp_avg", exp_avg_}, {"exp_avg_sq", exp_avg_sq_}};
  }

 private:
  struct Part {
    double weight_decay;
    std::vector<at::Tensor> values;
    std::vector<at::Tensor> gradients;
    std::vector<at::Tensor> exp_avg;
    std::vector<at::Tensor> exp_avg_sq;
    std::vector<at::Tensor> steps;  // one tensor, as often as there are values
  };

  void apply(double learning_rate, const std::optional<at::Tensor>& found_inf) override {
    // The bias is corrected by this step's number, which the kernel reads, as float32, and leaves.
    step_.copy_(at::add(applied_steps_there(), 1));
    for (const Part& part : parts_) {
      at::_fused_adamw_(part.values, part.gradients, part.exp_avg, part.exp_avg_sq,
                        /*max_exp_avg_sqs=*/{}, part.steps, learning_rate, options_.beta1,
                        options_.beta2, part.weight_decay, options_.eps, /*amsgrad=*/false,
                        /*maximize=*/false, /*grad_scale=*/{}, found_inf);
    }
  }

  AdamWOptions options_;
  at::Tensor exp_avg_;
  at::Tensor exp_avg_sq_;
  at::Tensor step_;
  std::vector<Part> parts_;
};

}  // namespace

FieldTable AdamWBuilder::fields() {
  FieldTable table{
      field("beta1", beta1_, "adamw: decay of the running mean of gradients", from_up_to(0.0, 1.0)),
      field("beta2", beta2_, "adamw: decay of the running mean of their squares",
            from_up_to(0.0, 1.0)),
      // 0 would turn the zeros that pad the flat buffers into 0 / 0.
      field("eps", eps_, "adamw: added to the root of that mean, against division by 0",
            above(0.0))};
  for (Field& entry : lockstep::fields(decay_)) table.push_back(std::move(entry));
  return table;
}

std::unique_ptr<Optimizer> AdamWBuilder::build(const at::Tensor& values,
                                               const at::Tensor& gradients,
                                               std::span<const ElementRange> weights) const {
  return std::make_unique<AdamW>(values, gradients, decay_groups(decay_, values.numel(), weights),
                                 AdamWOptions{beta1_, beta2_, eps_});
}

}  // namespace lockstep
