#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace lockstep {

/// A parameter, buffer or state tensor with its dotted name, e.g. "layer1.0.conv1.weight". The
/// tensor is a handle: copies of it refer to the same elements.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// The tensors of a network under construction. Layers add theirs as they are built, so the order
/// is that of PyTorch's named_parameters() and named_buffers().
class NetworkTensors {
 public:
  /// Makes `tensor` a leaf that requires a gradient, and returns it.
  at::Tensor add_parameter(std::string name, at::Tensor tensor) {
    tensor.set_requires_grad(true);
    parameters_.push_back({std::move(name), tensor});
    return tensor;
  }

  at::Tensor add_buffer(std::string name, at::Tensor tensor) {
    buffers_.push_back({std::move(name), tensor});
    return tensor;
  }

  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }

 private:
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
};

}  // namespace lockstep
