#pragma once

#include <memory>

#include "lockstep/model/flat_buffers.hpp"
#include "lockstep/model/flat_parameters.hpp"
#include "lockstep/model/model.hpp"
#include "lockstep/optim/optimizer.hpp"

namespace lockstep {

/// One rank's copy of all that training changes: the model, whose parameters and buffers are views
/// of flat tensors, and the optimizer that works on them.
class Replica {
 public:
  /// `model` is already converted to its dtype and memory format. Not collective.
  Replica(std::unique_ptr<Model> model, const OptimizerBuilder& optimizer);

  Model& model() { return *model_; }
  FlatParameters& parameters() { return parameters_; }
  FlatBuffers& buffers() { return buffers_; }
  Optimizer& optimizer() { return *optimizer_; }

 private:
  std::unique_ptr<Model> model_;
  FlatBuffers buffers_;
  FlatParameters parameters_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace lockstep
