#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/model/named_tensor.hpp"

namespace lockstep {

/// Where one tensor lies in a flat buffer; all in elements.
struct FlatEntry {
  std::string name;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  ///< keeps the memory format, e.g. channels last
};

/// How tensors of one dtype lie in one 1-d buffer, in the order given. Each starts at a multiple of
/// `alignment` elements (64 bytes in float32), as it would in memory of its own; the padding
/// between them holds zeros. Parameters, gradients and optimizer state share one layout; files name
/// tensors by entry and never see it.
class FlatLayout {
 public:
  static constexpr std::int64_t alignment = 16;

  /// Tensors must be dense (contiguous in some order of their dimensions); throws Error otherwise.
  explicit FlatLayout(std::span<const NamedTensor> tensors);

  const std::vector<FlatEntry>& entries() const { return entries_; }
  /// Elements of the buffer, padding included.
  std::int64_t size() const { return size_; }

  /// The entry's part of `flat` (1-d, size() elements), in the entry's shape; shares its memory.
  static at::Tensor view(const at::Tensor& flat, const FlatEntry& entry);

  /// All entries' parts of `flat` by name, in the buffer's order.
  std::vector<NamedTensor> views(const at::Tensor& flat) const;

 private:
  std::vector<FlatEntry> entries_;
  std::int64_t size_ = 0;
};

}  // namespace lockstep
