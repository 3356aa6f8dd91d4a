#pragma once

#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "lockstep/model/flat_buffers.hpp"
#include "lockstep/model/flat_parameters.hpp"
#include "lockstep/model/model.hpp"
#include "lockstep/optim/grad_scaler.hpp"
#include "lockstep/optim/optimizer.hpp"
#include "lockstep/optim/weight_average.hpp"

namespace lockstep {

/// What a replica has beside model and optimizer.
struct ReplicaOptions {
  std::optional<GradScalerOptions> loss_scaling;  ///< none: losses are not scaled
  double ema_decay = 0.0;                         ///< of an average of the weights; 0: none
};

/// One rank's copy of all that training changes: the model, whose parameters and buffers are views
/// of flat tensors, the optimizer that works on them, and what follows them from step to step.
class Replica {
 public:
  /// `model` is already converted to its device, dtype and memory format. Not collective.
  Replica(std::unique_ptr<Model> model, const OptimizerBuilder& optimizer,
          const ReplicaOptions& options = {});

  at::Device device() const { return parameters_.values().device(); }
  Model& model() { return *model_; }
  FlatParameters& parameters() { return parameters_; }
  FlatBuffers& buffers() { return buffers_; }
  Optimizer& optimizer() { return *optimizer_; }
  GradScaler* scaler() { return scaler_ ? &*scaler_ : nullptr; }        ///< null: not scaled
  WeightAverage* average() { return average_ ? &*average_ : nullptr; }  ///< null: not averaged

 private:
  std::unique_ptr<Model> model_;
  FlatBuffers buffers_;
  FlatParameters parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<GradScaler> scaler_;
  std::optional<WeightAverage> average_;
};

}  // namespace lockstep
