#pragma once

#include <mpi.h>

namespace lockstep {

/// Whether MPI's all-reduce of floats gives bitwise the same sums on all ranks of `comm`.
/// Collective; takes a few milliseconds. True on one and two ranks, where addition commutes.
///
/// MPI only recommends equal sums, and some algorithms do not give them: MPICH's recursive exchange
/// with groups of three or more lets each rank begin with its own value. Which algorithm is taken
/// depends on the length, the library and its tuning files, so it is tried at several lengths.
bool sums_are_equal_on_all_ranks(MPI_Comm comm);

}  // namespace lockstep
