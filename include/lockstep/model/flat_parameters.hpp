#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/model/flat_layout.hpp"
#include "lockstep/model/named_tensor.hpp"

namespace lockstep {

/// All parameters of a model as one 1-d tensor of values and one of gradients. Construction moves
/// the parameters in: each becomes a view of values(), its .grad a view of gradients(), with the
/// strides it had. The order is the reverse of registration, which is about the order in which
/// backward passes finish gradients, so that neighbours are ready together.
///
/// Gradients accumulate in place as long as nobody replaces .grad: never call zero_grad() on the
/// parameters nor backward with create_graph; use zero_gradients().
class FlatParameters {
 public:
  /// `parameters` in registration order, of one floating dtype, all requiring gradients. `tail` is
  /// the number of elements to keep right behind the gradients, so that they can travel in one
  /// message with them. Throws Error where there are none or dtypes differ.
  explicit FlatParameters(std::vector<NamedTensor> parameters, std::int64_t tail = 0);
  FlatParameters(const FlatParameters&) = delete;
  FlatParameters& operator=(const FlatParameters&) = delete;

  const FlatLayout& layout() const { return layout_; }
  /// The parameters, in the layout's order.
  const std::vector<NamedTensor>& parameters() const { return parameters_; }

  const at::Tensor& values() const { return values_; }        ///< 1-d, layout().size() elements
  const at::Tensor& gradients() const { return gradients_; }  ///< like values()
  const at::Tensor& tail() const { return tail_; }            ///< 1-d, behind gradients() in memory

  void zero_gradients();

 private:
  std::vector<NamedTensor> parameters_;
  FlatLayout layout_;
  at::Tensor values_;
  at::Tensor gradients_;
  at::Tensor tail_;
};

}  // namespace lockstep
