#include "lockstep/model/flat_layout.hpp"

#include <ATen/ops/as_strided.h>

#include "lockstep/base/error.hpp"

namespace lockstep {

FlatLayout::FlatLayout(std::span<const NamedTensor> tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.is_non_overlapping_and_dense()) {
      throw Error("lay out " + name + " in a flat buffer", "its elements are not dense in memory");
    }
    entries_.push_back({.name = name,
                        .offset = size_,
                        .count = tensor.numel(),
                        .sizes = tensor.sizes().vec(),
                        .strides = tensor.strides().vec()});
    size_ += (tensor.numel() + alignment - 1) / alignment * alignment;
  }
}

at::Tensor FlatLayout::view(const at::Tensor& flat, const FlatEntry& entry) {
  return flat.as_strided(entry.sizes, entry.strides, flat.storage_offset() + entry.offset);
}

std::vector<NamedTensor> FlatLayout::views(const at::Tensor& flat) const {
  std::vector<NamedTensor> result;
  result.reserve(entries_.size());
  for (const FlatEntry& entry : entries_) result.push_back({entry.name, view(flat, entry)});
  return result;
}

}  // namespace lockstep
