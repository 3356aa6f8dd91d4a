#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/bench/figures.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/data/loader.hpp"

namespace lockstep {

/// What a loader of training batches gives where nobody computes in between: images a second of all
/// ranks, images a second of processor time, of all threads of all ranks; and the nanoseconds that
/// finding a sample in an epoch's order of 10^9 takes. A block takes batches for `block_seconds`,
/// beginning further epochs as need be. The other arguments are the loader's. Collective; all ranks
/// return the same.
std::vector<Figure> bench_loader(const Dataset& dataset, const BatchPlan& plan,
                                 const LoaderOptions& options, const ImageTransform& transform,
                                 Communicator& comm, std::int64_t blocks, double block_seconds,
                                 const BeforeBlock& before_block);

}  // namespace lockstep
