#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/model/flat_buffers.hpp"
#include "lockstep/model/flat_parameters.hpp"

namespace lockstep {

/// Gives every rank rank 0's parameter values and buffers. Collective.
void broadcast_replica(FlatParameters& parameters, FlatBuffers& buffers, Communicator& comm);

/// XXH3 of the tensors' bytes. Contiguous; waits for their device. Not collective.
std::uint64_t content_hash(std::span<const at::Tensor> tensors);

/// Everything of a replica that all ranks must hold alike: parameter values, buffers, counters.
std::vector<at::Tensor> replica_tensors(const FlatParameters& parameters,
                                        const FlatBuffers& buffers);

/// Whether all ranks hold bitwise the same in `tensors`, by comparing hashes: one small message.
/// For tests. Collective; the answer is the same on all ranks.
bool replicas_equal(std::span<const at::Tensor> tensors, Communicator& comm);

}  // namespace lockstep
