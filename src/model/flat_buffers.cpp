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

FlatBuffers::FlatBuffers(const std::vector<NamedTensor>& buffers, at::Device device)
    : floating_(floating_ones(buffers)),
      layout_(floating_),
      values_(zeros_alike(floating_, layout_.size(), "buffers", device)) {
  move_into_flat(floating_, layout_, values_);
  std::vector<NamedTensor> counters;
  for (const NamedTensor& buffer : buffers) {
    if (buffer.tensor.is_floating_point()) continue;
    if (buffer.name.ends_with("num_batches_tracked")) {
      counters.push_back(buffer);
      counters_.push_back(buffer.tensor);
    } else {
      constants_.push_back(buffer.tensor);
    }
  }
  const FlatLayout counter_layout(counters);
  counter_values_ = zeros_alike(counters, counter_layout.size(), "counters", device);
  move_into_flat(counters, counter_layout, counter_values_);
}

}  // namespace lockstep
