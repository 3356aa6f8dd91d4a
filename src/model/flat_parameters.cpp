#include "lockstep/model/flat_parameters.hpp"

#include <algorithm>
#include <utility>

#include "lockstep/base/error.hpp"

#include "model/flat_move.hpp"

namespace lockstep {
namespace {

std::vector<NamedTensor> reversed(std::vector<NamedTensor> tensors) {
  std::ranges::reverse(tensors);
  return tensors;
}

}  // namespace

FlatParameters::FlatParameters(std::vector<NamedTensor> parameters, std::int64_t tail)
    : parameters_(reversed(std::move(parameters))), layout_(parameters_) {
  check(!parameters_.empty(), "make the model's parameters one flat buffer", "it has none");
  values_ = zeros_alike(parameters_, layout_.size(), "parameters");
  const at::Tensor exchanged = zeros_alike(parameters_, layout_.size() + tail, "gradients");
  gradients_ = exchanged.narrow(0, 0, layout_.size());
  tail_ = exchanged.narrow(0, layout_.size(), tail);
  move_into_flat(parameters_, layout_, values_);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, parameter] = parameters_[i];
    if (!parameter.requires_grad()) {
      throw Error("make " + name + " part of the flat parameters", "it requires no gradient");
    }
    parameter.mutable_grad() = FlatLayout::view(gradients_, layout_.entries()[i]);
  }
}

void FlatParameters::zero_gradients() {
  gradients_.zero_();
}

}  // namespace lockstep
