#pragma once

#include <mpi.h>

#include "lockstep/base/dtype.hpp"
#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// The MPI type that moves and, where it can be reduced at all, reduces elements of `dtype`.
/// float16 and bfloat16, which MPI does not know, travel as 16-bit words.
MPI_Datatype mpi_type(DType dtype);

inline bool is_floating(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64;
}

/// The reductions that MPI's own operators do not do alike on all ranks, as user operators.
///
/// MPI_MAX and MPI_MIN of floating-point values compare with > or <, so that with a NaN (or zeros
/// of both signs) the result depends on the order of the operands, which differs from rank to rank.
/// Here a NaN wins always, and +0 is greater than -0.
class MpiOperators {
 public:
  MpiOperators();
  MpiOperators(const MpiOperators&) = delete;
  MpiOperators& operator=(const MpiOperators&) = delete;
  ~MpiOperators();

  MPI_Op find(ReduceOp op, DType dtype) const;

 private:
  MPI_Op float_max_ = MPI_OP_NULL;
  MPI_Op float_min_ = MPI_OP_NULL;
};

/// Whether MPI calls are still allowed; false after MPI_Finalize.
bool mpi_is_up();

}  // namespace lockstep
