#include "comm/mpi_types.hpp"

#include <cmath>
#include <limits>

#include "lockstep/base/error.hpp"

#include "comm/mpi_error.hpp"

namespace lockstep {
namespace {

template <typename T>
T larger(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename T>
T smaller(T a, T b) {
  return -larger(-a, -b);
}

template <typename T>
void combine(T (*choose)(T, T), const void* in, void* inout, int length) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(inout);
  for (int i = 0; i < length; ++i) to[i] = choose(from[i], to[i]);
}

// The signatures are MPI_User_function's.
void float_max(void* in, void* inout, int* length, MPI_Datatype* type) {
  if (*type == MPI_FLOAT) {
    combine<float>(larger, in, inout, *length);
  } else {
    combine<double>(larger, in, inout, *length);
  }
}

void float_min(void* in, void* inout, int* length, MPI_Datatype* type) {
  if (*type == MPI_FLOAT) {
    combine<float>(smaller, in, inout, *length);
  } else {
    combine<double>(smaller, in, inout, *length);
  }
}

}  // namespace

MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return MPI_UINT8_T;
    case DType::int32:
      return MPI_INT32_T;
    case DType::int64:
      return MPI_INT64_T;
    case DType::float16:
    case DType::bfloat16:
      return MPI_UINT16_T;
    case DType::float32:
      return MPI_FLOAT;
    case DType::float64:
      return MPI_DOUBLE;
  }
  throw Error("look up the MPI type of an element type", "no such type");
}

MpiOperators::MpiOperators() {
  constexpr int commutative = 1;
  check_mpi(MPI_Op_create(float_max, commutative, &float_max_), "make an MPI operator");
  check_mpi(MPI_Op_create(float_min, commutative, &float_min_), "make an MPI operator");
}

MpiOperators::~MpiOperators() {
  if (!mpi_is_up()) return;
  MPI_Op_free(&float_max_);
  MPI_Op_free(&float_min_);
}

MPI_Op MpiOperators::find(ReduceOp op, DType dtype) const {
  const bool floating = is_floating(dtype);
  switch (op) {
    case ReduceOp::sum:
      return MPI_SUM;
    case ReduceOp::max:
      return floating ? float_max_ : MPI_MAX;
    case ReduceOp::min:
      return floating ? float_min_ : MPI_MIN;
  }
  throw Error("look up an MPI operator", "no such reduction");
}

bool mpi_is_up() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace lockstep
