#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/model/flat_layout.hpp"
#include "lockstep/model/named_tensor.hpp"

namespace lockstep {

/// A model's buffers sorted by how replicas keep them equal. Construction moves the floating-point
/// ones (running means and variances) into one 1-d tensor, of which they become views, and the
/// counters into another.
class FlatBuffers {
 public:
  /// `device` is the model's: where it has no buffers the empty tensors are there too. Throws Error
  /// where floating-point buffers differ in dtype.
  explicit FlatBuffers(const std::vector<NamedTensor>& buffers, at::Device device = at::kCPU);
  FlatBuffers(const FlatBuffers&) = delete;
  FlatBuffers& operator=(const FlatBuffers&) = delete;

  /// 1-d; empty where the model has no floating-point buffer.
  const at::Tensor& values() const { return values_; }
  const FlatLayout& layout() const { return layout_; }

  /// The int64 scalars called num_batches_tracked: forward passes in training mode. They are views
  /// of counter_values() (1-d, with padding).
  const std::vector<at::Tensor>& counters() const { return counters_; }
  const at::Tensor& counter_values() const { return counter_values_; }
  /// Any other integers: constants of the network.
  const std::vector<at::Tensor>& constants() const { return constants_; }

 private:
  std::vector<NamedTensor> floating_;
  FlatLayout layout_;
  at::Tensor values_;
  std::vector<at::Tensor> counters_;
  at::Tensor counter_values_;
  std::vector<at::Tensor> constants_;
};

}  // namespace lockstep
