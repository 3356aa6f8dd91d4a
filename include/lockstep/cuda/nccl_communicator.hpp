#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

struct NcclOptions {
  /// The GPU of this rank, as CUDA counts those that the process sees.
  int device = 0;
  /// How long NCCL may take to connect the ranks.
  std::chrono::seconds setup_deadline{300};
  /// How long a collective may take to be launched, and then from when its data is there on this
  /// rank, other ranks' lateness included.
  std::chrono::seconds collective_deadline{600};
  /// How often errors and deadlines are looked at behind the training.
  std::chrono::milliseconds poll_interval{100};
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  /// Told once of the error that ends a communicator whose ranks were connected, before NCCL is
  /// told to give up, which may never return. On a thread of the communicator's own where it was
  /// found behind the training, which may be waiting for the GPU. Must neither throw nor call the
  /// communicator.
  std::function<void(const Error&)> on_failure;
};

/// Collectives by NCCL on device memory, in a stream of high priority of their own. Nothing here
/// makes the caller wait for the GPU: a collective starts when the work that is in its buffers'
/// streams by now is done, and Work::wait() makes the streams wait for the collective. Every dtype
/// can be reduced. Where a NaN meets a number, the maximum and the minimum are what NCCL makes of
/// it.
///
/// A thread looks for errors that NCCL meets on the way and for collectives that pass their
/// deadline. The first one ends the communicator: NCCL gives up what is in flight, so that nobody
/// waits for ever, and each later call throws that Error, which names host, rank, what NCCL says,
/// and what to try.
class NcclCommunicator : public Communicator {
 public:
  /// Collective over `host`, which connects the same ranks through host memory and is kept for
  /// barriers and duplicates. `api` is borrowed. Throws AgreedError on all ranks where two share a
  /// GPU, where one cannot use its own, or where NCCL cannot begin; Error where NCCL fails on this
  /// rank or does not connect it in time.
  static std::unique_ptr<NcclCommunicator> connect(const GpuApi& api,
                                                   std::unique_ptr<Communicator> host,
                                                   NcclOptions options);
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  /// Without finish() before, makes NCCL give up what is in flight.
  ~NcclCommunicator() override;

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

  /// The collectives that `start_all` starts become one launch: none begins before all are started,
  /// and each one's Work is done when all are. Works may be waited for when this has returned.
  /// Where `start_all` throws, none is launched. Collective, in the same order on all ranks.
  void grouped(const std::function<void()>& start_all);

  /// Waits for what is in flight, then closes NCCL in good order. Collective. Throws Error where
  /// that fails or takes longer than a collective may. Only the destructor may follow.
  void finish();

 private:
  class Implementation;
  explicit NcclCommunicator(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lockstep
