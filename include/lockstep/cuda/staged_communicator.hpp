#pragma once

#include <memory>
#include <string_view>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// Collectives on device memory by a communicator of host memory: each message is copied to pinned
/// memory, goes between the hosts, and is copied back, in a stream of its own. For clusters whose
/// NCCL does not work: slower, and Work::wait() waits on the host until the message has come,
/// though not for the copy back. Messages move on while this communicator is called, all in the
/// order in which they were started. What the host's communicator cannot reduce, this one cannot
/// either.
class StagedCommunicator : public Communicator {
 public:
  /// For GPU `device`, which must be the calling threads'. `api` is borrowed; `host` connects the
  /// ranks. Not collective.
  StagedCommunicator(const CudaApi& api, int device, std::unique_ptr<Communicator> host);
  StagedCommunicator(const StagedCommunicator&) = delete;
  StagedCommunicator& operator=(const StagedCommunicator&) = delete;
  ~StagedCommunicator() override;

  int rank() const override;
  int size() const override;
  Work start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) override;
  Work start_broadcast(Buffer buffer, int root, std::string_view purpose) override;
  Work start_all_gather(Buffer send, Buffer receive, std::string_view purpose) override;
  Work start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                            std::string_view purpose) override;
  /// Of the ranks, through host memory; says nothing of what is in their streams.
  void barrier(std::string_view purpose) override;
  std::unique_ptr<Communicator> duplicate(std::string_view purpose) override;

 private:
  class Pipeline;
  std::shared_ptr<Pipeline> pipeline_;
};

}  // namespace lockstep
