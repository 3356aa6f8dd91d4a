#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include <ATen/core/Tensor.h>

#include "lockstep/data/loader.hpp"
#include "lockstep/ddp/gradient_reducer.hpp"
#include "lockstep/train/device_batch.hpp"
#include "lockstep/train/precision.hpp"
#include "lockstep/train/replica.hpp"

namespace lockstep {

struct StepOptions {
  double max_grad_norm = 0.0;         ///< 0: gradients are not clipped
  double label_smoothing = 0.0;       ///< of the training loss; validation has none
  std::function<double()> seconds{};  ///< a clock for StepResult::wait_seconds; may be empty
};

/// What became of a window.
struct StepReport {
  /// Of the window's mean loss by all parameters, before clipping and without loss scale. NaN or
  /// infinite where the step was skipped.
  double grad_norm = 0.0;
  bool applied = true;      ///< false: the gradient was not finite, and nothing was changed
  double loss_scale = 1.0;  ///< of this window
  double next_loss_scale = 1.0;
};

/// The same while the device may still be computing it.
struct StepResult {
  static constexpr std::int64_t fields = 4;

  at::Tensor numbers;  ///< float64 [fields], on the device; what report_of() reads
  /// For gradients of other ranks, after the last backward pass. The host does not wait for a GPU.
  double wait_seconds = 0.0;
};

/// What `fields` numbers of a StepResult say, once they are here.
StepReport report_of(std::span<const double> numbers);
/// Waits for the device.
StepReport report_of(const StepResult& result);

/// One optimizer step: a window's micro-batches through the model, gradients summed over all ranks,
/// one update. The arguments are borrowed. All functions are to be called in
/// step by all ranks.
class TrainingStep {
 public:
  TrainingStep(Replica& replica, GradientReducer& reducer, const Precision& precision,
               StepOptions options = {})
      : replica_(replica),
        reducer_(reducer),
        precision_(precision),
        options_(std::move(options)),
        upload_(replica.device(), precision.parameters) {}

  /// `rank_samples`: this rank's of the window's `window_samples`.
  void begin_window(std::int64_t rank_samples, std::int64_t window_samples);

  /// Forward and backward pass of this rank's share, which may be empty. Returns its own outcomes,
  /// as outcomes_of(), or nothing where there is no sample: the losses are those of the weights
  /// before the update. On a CPU the batch's memory is free then, on a GPU when batch.reading is
  /// gone.
  at::Tensor run_micro_batch(Batch& batch);

  /// Waits for the summed gradients and updates the weights and their average. Where a gradient is
  /// NaN or infinite, which all ranks see alike in the sum, the step is skipped: weights, optimizer
  /// and average stay as they are and running statistics go back to where the window found them.
  /// All of that is decided on the device, so that nobody waits for it.
  StepResult finish_window(double learning_rate);

  const BatchUpload& upload() const { return upload_; }

 private:
  /// Returns the seconds it took.
  double wait_for_gradients();
  /// Unscales and clips.
  void adjust_gradients(const at::Tensor& norm);

  Replica& replica_;
  GradientReducer& reducer_;
  Precision precision_;
  StepOptions options_;
  BatchUpload upload_;
};

}  // namespace lockstep
