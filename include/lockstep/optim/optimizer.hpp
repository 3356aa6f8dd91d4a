#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/base/field.hpp"

namespace lockstep {

/// State an optimizer keeps for each parameter, flat like the values it belongs to.
struct OptimizerState {
  std::string kind;  ///< e.g. "momentum": part of its name in files
  at::Tensor flat;   ///< 1-d, the optimizer's own: writing to it restores the state
};

/// Elements [begin, end) of a flat buffer.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

/// Updates a range of flat parameters from the same range of their gradients. Elementwise, so it
/// needs to know neither names nor shapes, and any range may be given to any rank. Not collective.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update. A parameter that had no gradient has a gradient of zeros: weight decay and
  /// momentum still move it.
  void step(double learning_rate) {
    apply(learning_rate);
    ++applied_steps_;
  }

  /// The same kinds in the same order from construction on.
  virtual std::vector<OptimizerState> state() = 0;

  /// Updates so far; those that were skipped for a bad gradient do not count.
  std::int64_t applied_steps() const { return applied_steps_; }
  void restore_applied_steps(std::int64_t steps) { applied_steps_ = steps; }

 private:
  virtual void apply(double learning_rate) = 0;

  std::int64_t applied_steps_ = 0;
};

/// Holds an optimizer's options (but the learning rate, which a Schedule gives) and builds it.
class OptimizerBuilder {
 public:
  virtual ~OptimizerBuilder() = default;

  /// Refers to this builder, which must outlive the table.
  virtual FieldTable fields() = 0;

  /// What is wrong with the options together, one text for each thing.
  virtual std::vector<std::string> problems() const { return {}; }

  /// `values` and `gradients` are 1-d, contiguous, of equal size and dtype; the optimizer keeps
  /// them and updates `values` in place. `weights` says, in ascending order, which of their
  /// elements are weights proper: the rest, norms and biases, may be left out of weight decay.
  /// Throws UsageError where there are problems().
  virtual std::unique_ptr<Optimizer> build(const at::Tensor& values, const at::Tensor& gradients,
                                           std::span<const ElementRange> weights) const = 0;
};

}  // namespace lockstep
