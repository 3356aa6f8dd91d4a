#include "lockstep/train/replica.hpp"

#include <utility>

#include "lockstep/train/weight_ranges.hpp"

namespace lockstep {

Replica::Replica(std::unique_ptr<Model> model, const OptimizerBuilder& optimizer)
    : model_(std::move(model)),
      buffers_(model_->buffers()),
      parameters_(model_->parameters(), buffers_.layout().size()),
      optimizer_(optimizer.build(parameters_.values(), parameters_.gradients(),
                                 weight_ranges(parameters_.layout()))) {}

}  // namespace lockstep
