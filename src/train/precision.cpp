#include "lockstep/train/precision.hpp"

namespace lockstep {

PrecisionChoice choose_precision(DType dtype, bool use_amp, bool processor_has_bfloat16) {
  const std::string name(name_of(dtype));
  const Precision plain{.parameters = dtype, .autocast = false};
  if (!use_amp) return {plain, name + " (use_amp is off)"};
  if (dtype != DType::float32) return {plain, name + " (mixed precision needs float32 weights)"};
  if (!processor_has_bfloat16) {
    return {plain, name + " (not all processors multiply bfloat16 natively)"};
  }
  return {{.parameters = dtype, .autocast = true}, "bfloat16 autocast over float32 weights"};
}

bool processor_has_bfloat16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

}  // namespace lockstep
