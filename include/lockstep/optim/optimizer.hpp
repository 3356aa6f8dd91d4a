#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  /// momentum still move it. `bad`: a float32 scalar on the values' device; where it is not 0,
  /// nothing changes and the step does not count. Without one the step is good. Never waits for the
  /// device.
  void step(double learning_rate, const at::Tensor& bad = {});

  /// The same kinds in the same order from construction on.
  virtual std::vector<OptimizerState> state() = 0;

  /// Updates so far; those that were skipped for a bad gradient do not count. Waits for the device.
  std::int64_t applied_steps() const;
  void restore_applied_steps(std::int64_t steps);
  /// The same as an int64 scalar on the values' device, which step() moves on.
  const at::Tensor& applied_steps_there() const { return applied_steps_; }

 protected:
  /// `values` are those to be updated; only their device matters here.
  explicit Optimizer(const at::Tensor& values);

 private:
  /// `found_inf`: none, or as step()'s `bad`.
  virtual void apply(double learning_rate, const std::optional<at::Tensor>& found_inf) = 0;

  at::Tensor applied_steps_;
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
