#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "lockstep/ddp/gradient_reducer.hpp"

namespace lockstep {

/// Keeps running buffers equal on all ranks. What travels is each rank's change over the window,
/// weighted, and not the buffer itself: what no rank moved then stays as it was to the bit.
class GradientReducer::BufferAverage {
 public:
  /// `tail` is where the message's part for buffers lies; of the same size and dtype as
  /// buffers.values(). Both are borrowed.
  BufferAverage(FlatBuffers& buffers, at::Tensor tail);

  /// Remembers the buffers as they are.
  void begin_window(double share);
  /// Writes this rank's weighted change to the tail; the window's forward passes must be over.
  void write_tail();
  /// Takes the summed changes over. `alone`: there is one rank, whose buffers are right already.
  void adopt(bool alone, std::int64_t micro_batches);
  void restore_if(const at::Tensor& bad);

 private:
  FlatBuffers& buffers_;
  at::Tensor tail_;
  at::Tensor before_;
  at::Tensor counters_before_;
  double share_ = 0.0;
};

}  // namespace lockstep
