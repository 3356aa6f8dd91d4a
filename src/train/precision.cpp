#include "lockstep/train/precision.hpp"

namespace lockstep {

std::vector<std::string> problems(const PrecisionRequest& request) {
  if (request.amp_dtype == "auto") return {};
  std::vector<std::string> found;
  if (!request.use_amp) {
    found.push_back("amp_dtype " + request.amp_dtype +
                    " asks for mixed precision, but use_amp is off: turn it on, or leave amp_dtype "
                    "at auto");
  }
  if (request.dtype != DType::float32) {
    found.push_back("amp_dtype " + request.amp_dtype + " needs dtype float32, not " +
                    std::string(name_of(request.dtype)));
  }
  return found;
}

PrecisionChoice choose_precision(const PrecisionRequest& request, const PrecisionSupport& support) {
  const std::string name(name_of(request.dtype));
  const Precision plain{.parameters = request.dtype};
  if (!request.use_amp) return {plain, name + " (use_amp is off)"};
  if (request.dtype != DType::float32) {
    return {plain, name + " (mixed precision needs float32 weights)"};
  }
  if (request.amp_dtype == "fp16") {
    return {{request.dtype, true, DType::float16},
            "float16 autocast over float32 weights, with loss scaling (as amp_dtype asks)"};
  }
  if (request.amp_dtype == "bf16") {
    return {{request.dtype, true, DType::bfloat16},
            "bfloat16 autocast over float32 weights (as amp_dtype asks)"};
  }
  const std::string all = support.gpu ? "all GPUs" : "all processors";
  if (support.has_bfloat16) {
    return {{request.dtype, true, DType::bfloat16},
            "bfloat16 autocast over float32 weights (" + all + " multiply it natively)"};
  }
  if (support.gpu) {
    return {{request.dtype, true, DType::float16},
            "float16 autocast over float32 weights, with loss scaling (not all GPUs multiply "
            "bfloat16 natively)"};
  }
  return {plain, name + " (not " + all + " multiply bfloat16 natively)"};
}

bool processor_has_bfloat16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

}  // namespace lockstep
