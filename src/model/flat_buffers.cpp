#include "lockstep/model/flat_buffers.hpp"

#include <algorithm>
#include <iterator>

#include "model/flat_move.hpp"

namespace lockstep {
namespace {

std::vector<NamedTensor> floating_ones(const std::vector<NamedTensor>& buffers) {
  std::vector<NamedTensor> result;
  std::ranges::copy_if(buffers, std::back_inserter(result),
                       [](const NamedTensor& buffer) { return buffer.tensor.is_floating_point(); });
  return result;
}

}  // namespace

FlatBuffers::FlatBuffers(const std::vector<NamedTensor>& buffers)
    : floating_(floating_ones(buffers)),
      layout_(floating_),
      values_(zeros_alike(floating_, layout_.size(), "buffers")) {
  move_into_flat(floating_, layout_, values_);
  for (const auto& [name, tensor] : buffers) {
    if (tensor.is_floating_point()) continue;
    (name.ends_with("num_batches_tracked") ? counters_ : constants_).push_back(tensor);
  }
}

}  // namespace lockstep
