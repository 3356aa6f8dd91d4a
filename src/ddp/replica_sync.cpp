#include "lockstep/ddp/replica_sync.hpp"

#include <array>
#include <bit>

#include "lockstep/base/content_hash.hpp"

#include "ddp/tensor_buffer.hpp"

namespace lockstep {

std::vector<at::Tensor> replica_tensors(const FlatParameters& parameters,
                                        const FlatBuffers& buffers) {
  std::vector<at::Tensor> result{parameters.values(), buffers.values()};
  for (const auto* integers : {&buffers.counters(), &buffers.constants()}) {
    result.insert(result.end(), integers->begin(), integers->end());
  }
  return result;
}

void broadcast_replica(FlatParameters& parameters, FlatBuffers& buffers, Communicator& comm) {
  for (const at::Tensor& tensor : replica_tensors(parameters, buffers)) {
    comm.broadcast(bytes_of(tensor), 0, "initial parameters and buffers");
  }
}

std::uint64_t content_hash(std::span<const at::Tensor> tensors) {
  ContentHash hash;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor here = tensor.cpu();
    const Buffer bytes = bytes_of(here);
    hash.add({static_cast<const std::byte*>(bytes.data), static_cast<std::size_t>(bytes.count)});
  }
  return hash.halves()[1];
}

bool replicas_equal(std::span<const at::Tensor> tensors, Communicator& comm) {
  const auto hash = std::bit_cast<std::int64_t>(content_hash(tensors));
  // The largest of h and of ~h: ~ reverses the order, so the second is the complement of the least.
  std::array<std::int64_t, 2> extremes{hash, ~hash};
  comm.all_reduce(buffer_of(std::span<std::int64_t>(extremes)), ReduceOp::max,
                  "compare the replicas");
  return extremes[0] == ~extremes[1];
}

}  // namespace lockstep
