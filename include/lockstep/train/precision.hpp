#pragma once

#include <string>

#include "lockstep/base/dtype.hpp"

namespace lockstep {

/// What a run computes in.
struct Precision {
  DType parameters = DType::float32;  ///< of weights, gradients and optimizer state
  bool autocast = false;              ///< forward pass in bfloat16 where that is safe
};

/// A precision and, for the log, why it is so.
struct PrecisionChoice {
  Precision precision;
  std::string reason;
};

/// By rule: autocast where it is asked for, the dtype is float32 and the processor multiplies
/// bfloat16 natively; elsewhere it would be slower than float32.
PrecisionChoice choose_precision(DType dtype, bool use_amp, bool processor_has_bfloat16);

/// Whether this processor has AVX-512 BF16 or an equivalent that LibTorch's convolutions use.
bool processor_has_bfloat16();

}  // namespace lockstep
