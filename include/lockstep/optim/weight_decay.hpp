#pragma once

#include "lockstep/base/field.hpp"

namespace lockstep {

/// Weight decay's options, which all optimizers have in common.
struct WeightDecay {
  double factor = 1e-4;
  bool norm_and_bias = true;  ///< whether norms and biases decay as weights do
};
FieldTable fields(WeightDecay& decay);

}  // namespace lockstep
