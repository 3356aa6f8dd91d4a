#pragma once

#include <string>
#include <vector>

#include "lockstep/base/dtype.hpp"

namespace lockstep {

/// What a run computes in.
struct Precision {
  DType parameters = DType::float32;  ///< of weights, gradients and optimizer state
  bool autocast = false;              ///< forward pass in autocast_dtype where that is safe
  DType autocast_dtype = DType::bfloat16;

  /// Whether losses must be scaled lest gradients vanish: float16 has 5 bits of exponent.
  bool scales_losses() const { return autocast && autocast_dtype == DType::float16; }
};

/// A precision and, for the log, why it is so.
struct PrecisionChoice {
  Precision precision;
  std::string reason;
};

/// What is asked for.
struct PrecisionRequest {
  DType dtype = DType::float32;
  bool use_amp = true;
  std::string amp_dtype = "auto";  ///< or "bf16", "fp16"
};

/// What contradicts itself in a request, one text for each thing.
std::vector<std::string> problems(const PrecisionRequest& request);

/// What all ranks compute on.
struct PrecisionSupport {
  bool gpu = false;
  bool has_bfloat16 = false;  ///< multiplies it natively
};

/// By rule: autocast where it is asked for and the dtype is float32. amp_dtype = auto takes
/// bfloat16 where it is multiplied natively; elsewhere float16 with loss scaling on GPUs, and on
/// CPUs, where that would be slower, float32. bf16 and fp16 are taken at their word.
PrecisionChoice choose_precision(const PrecisionRequest& request, const PrecisionSupport& support);

/// Whether this processor has AVX-512 BF16 or an equivalent that LibTorch's convolutions use.
bool processor_has_bfloat16();

}  // namespace lockstep
