#include "model/flat_move.hpp"

#include <ATen/ops/zeros.h>

#include "lockstep/base/error.hpp"

namespace lockstep {

at::Tensor zeros_alike(std::span<const NamedTensor> tensors, std::int64_t size, const char* what,
                       at::Device device) {
  if (tensors.empty()) return at::zeros({size}, at::TensorOptions(device));
  const at::Tensor& first = tensors.front().tensor;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.scalar_type() != first.scalar_type() || tensor.device() != first.device()) {
      throw Error(std::string("make the model's ") + what + " one flat buffer",
                  name + " and " + tensors.front().name + " differ in dtype or device");
    }
  }
  return at::zeros({size}, first.options().requires_grad(false));
}

void move_into_flat(std::span<const NamedTensor> tensors, const FlatLayout& layout,
                    const at::Tensor& flat) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    at::Tensor tensor = tensors[i].tensor;
    const at::Tensor place = FlatLayout::view(flat, layout.entries()[i]);
    place.copy_(tensor.detach());
    tensor.set_data(place);
  }
}

}  // namespace lockstep
