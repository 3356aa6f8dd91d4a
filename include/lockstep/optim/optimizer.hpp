#pragma once

#include <cstdint>
#include <memory>
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

  /// `values` and `gradients` are 1-d, contiguous, of equal size and dtype; the optimizer keeps
  /// them and updates `values` in place. Throws UsageError for options that do not go together.
  virtual std::unique_ptr<Optimizer> build(at::Tensor values, at::Tensor gradients) const = 0;
};

}  // namespace lockstep
