#include "lockstep/train/replica.hpp"

#include <utility>

#include "lockstep/train/weight_ranges.hpp"

namespace lockstep {

Replica::Replica(std::unique_ptr<Model> model, const OptimizerBuilder& optimizer,
                 const ReplicaOptions& options)
    : model_(std::move(model)),
      buffers_(model_->buffers(), device_of(*model_)),
      parameters_(model_->parameters(), buffers_.layout().size()),
      optimizer_(optimizer.build(parameters_.values(), parameters_.gradients(),
                                 weight_ranges(parameters_.layout()))) {
  if (options.loss_scaling) scaler_.emplace(*options.loss_scaling, device());
  if (options.ema_decay > 0.0) average_.emplace(parameters_.values(), options.ema_decay);
}

}  // namespace lockstep
