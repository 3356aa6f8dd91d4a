#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/io/metrics_file.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/replica.hpp"

namespace lockstep {

/// Everything a run needs to go on, copied at one moment: parameters and buffers (/model), their
/// average (/ema), optimizer state (/optimizer), loss scale (/scaler), position and horizon
/// (/sampler), this rank's tallies (/meters) and random state (/rng), and the history of metrics
/// (/metrics). Independent of what it was taken from.
class StateSnapshot {
 public:
  /// Not collective.
  StateSnapshot(Replica& replica, const LoopState& loop, const MetricsHistory& history,
                int world_size);
  StateSnapshot(const StateSnapshot&) = delete;
  StateSnapshot& operator=(const StateSnapshot&) = delete;
  ~StateSnapshot();

  /// Borrow from the snapshot.
  const std::vector<ArrayView>& arrays() const;

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

/// Sets replica, loop state and history to what `reader`, opened on `io`'s thread, holds. Every
/// tensor is matched by name, dtype and shape; throws Error, on all ranks, naming what does not
/// fit. Where another number of ranks wrote it, sums and counts stay what they were over all ranks
/// and ranks that it does not know keep their state of random numbers. Returns how many ranks it
/// knows. Collective.
std::int64_t restore_state(ArrayFileReader& reader, IoThread& io, Communicator& io_comm,
                           Replica& replica, LoopState& loop, MetricsHistory& history);

/// Of the loop's state, what all ranks had in common. Collective.
LoopState read_loop_state(ArrayFileReader& reader, IoThread& io);

/// The first of the model's tensors that `reader` does not hold with that dtype and shape, and what
/// it holds; empty where restore_model() finds all that it needs. Not collective.
std::string model_misfit(const ArrayFileReader& reader, const Model& model, bool averaged);

/// Sets only the model's parameters and buffers; `averaged`: to the average of the weights, which
/// the checkpoint must hold. Collective.
void restore_model(ArrayFileReader& reader, IoThread& io, Model& model, bool averaged);

/// Seeds LibTorch's generators of random numbers on this rank, the CPU's and the device's: ranks of
/// one run draw differently.
void seed_generators(std::uint64_t seed, int rank, at::Device device);

}  // namespace lockstep
