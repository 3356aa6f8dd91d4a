#include "lockstep/model/dtype.hpp"

#include "lockstep/base/error.hpp"

namespace lockstep {

at::ScalarType scalar_type_of(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return at::ScalarType::Byte;
    case DType::int32:
      return at::ScalarType::Int;
    case DType::int64:
      return at::ScalarType::Long;
    case DType::float16:
      return at::ScalarType::Half;
    case DType::bfloat16:
      return at::ScalarType::BFloat16;
    case DType::float32:
      return at::ScalarType::Float;
    case DType::float64:
      return at::ScalarType::Double;
  }
  throw Error("translate an element type for LibTorch", "no such type");
}

DType dtype_of(at::ScalarType type) {
  for (const DType dtype : {DType::uint8, DType::int32, DType::int64, DType::float16,
                            DType::bfloat16, DType::float32, DType::float64}) {
    if (scalar_type_of(dtype) == type) return dtype;
  }
  throw Error("translate LibTorch's element type " + std::string(c10::toString(type)),
              "only uint8, int32, int64, float16, bfloat16, float32 and float64 are exchanged");
}

}  // namespace lockstep
