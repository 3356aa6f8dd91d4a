#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/base/field.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/ddp/bucket_plan.hpp"
#include "lockstep/model/flat_buffers.hpp"
#include "lockstep/model/flat_parameters.hpp"

namespace lockstep {

/// The same on all ranks.
struct ReducerOptions {
  std::int64_t bucket_bytes = std::int64_t{4} << 20;
  std::int64_t last_bucket_bytes = std::int64_t{256} << 10;
};
FieldTable fields(ReducerOptions& options);

/// What a reducer does, for those who want to watch: tests and traces.
struct ReductionEvent {
  enum class Kind {
    gradient_ready,  ///< of entry `index`, in the last micro-batch's backward pass
    bucket_started   ///< the all-reduce of bucket `index`
  };
  Kind kind;
  std::int64_t index;

  friend bool operator==(const ReductionEvent&, const ReductionEvent&) = default;
};
using ReductionObserver = std::function<void(const ReductionEvent&)>;

/// Sums the gradients of all ranks, once a window (the micro-batches of one optimizer step), bucket
/// by bucket while the last backward pass is still running. Each rank's loss must already be
/// divided by the samples of the whole window, so that the sum is the gradient of the window's mean
/// loss. Running buffers are brought into step in the last bucket's message: each rank's change
/// over the window counts by its share of the window's samples, and num_batches_tracked becomes
/// what it was plus the number of micro-batches.
///
/// A window, on every rank, with samples or without:
///   begin_window(share);
///   for each micro-batch: begin_micro_batch(is_last); forward and backward, where there are
///   samples; finish();
/// From begin_micro_batch(true) to finish() no other collective may be started on the communicator,
/// and buckets are started in one order on all ranks: one that is ready early waits for those
/// before it.
class GradientReducer {
 public:
  /// Hooks into the parameters' gradient accumulation until destroyed; the arguments are borrowed
  /// and must live longer. `parameters` must have room for buffers.values() in its tail. Not
  /// collective.
  GradientReducer(FlatParameters& parameters, FlatBuffers& buffers, Communicator& comm,
                  const ReducerOptions& options, ReductionObserver observer = {});
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;
  ~GradientReducer();

  /// Zeroes the gradients. `share` is this rank's samples of the window over all ranks' (they sum
  /// to 1). Not collective.
  void begin_window(double share);

  /// Also for a micro-batch in which this rank has no sample. Not collective.
  void begin_micro_batch(bool last);

  /// Starts what the backward pass did not start (parameters without a gradient, a rank without
  /// samples) and waits for all: gradients() and buffers are then bitwise equal on all ranks.
  /// Collective.
  void finish();

  /// Takes the running buffers and counters back to where begin_window() found them where `bad`, a
  /// float32 scalar on their device, is not 0: the step is skipped then. After finish(). Does not
  /// wait for the device. Not collective; to be called by all ranks alike.
  void restore_buffers_if(const at::Tensor& bad);

  const std::vector<Bucket>& buckets() const { return buckets_; }
  /// Bytes this rank has handed to all-reduces so far, padding and buffers included.
  std::int64_t bytes_reduced() const { return bytes_reduced_; }
  /// Those of them that were reduced when finish() was called: what backward passes hid. Of device
  /// memory as far as the device had come by then.
  std::int64_t bytes_hidden() const { return bytes_hidden_; }

 private:
  class BufferAverage;
  class Hook;
  struct Message {
    Work work;
    std::int64_t bytes = 0;
  };

  void gradient_ready(std::size_t entry, const at::Tensor& parameter);
  void start_next_bucket();
  void observe(ReductionEvent::Kind kind, std::size_t index) const;

  FlatParameters& parameters_;
  Communicator& comm_;
  ReductionObserver observer_;
  std::unique_ptr<BufferAverage> average_;
  std::vector<Bucket> buckets_;
  std::vector<std::string> purposes_;         // by bucket
  std::vector<std::size_t> bucket_of_entry_;  // by entry
  std::vector<bool> ready_;                   // by entry: its gradient of this window is complete
  std::vector<std::int64_t> missing_;         // by bucket: entries that are not ready
  std::vector<Message> messages_;             // of the buckets started, in order
  std::int64_t micro_batches_ = 0;            // of this window, so far
  bool reducing_ = false;                     // in the last micro-batch
  std::int64_t bytes_reduced_ = 0;
  std::int64_t bytes_hidden_ = 0;
};

}  // namespace lockstep
