#include "lockstep/train/training_step.hpp"

#include <cmath>

#include <ATen/core/Tensor.h>
#include <ATen/ops/full_like.h>

#include "lockstep/optim/gradient_norm.hpp"
#include "lockstep/train/forward.hpp"
#include "lockstep/train/step_profiler.hpp"

namespace lockstep {

void TrainingStep::begin_window(std::int64_t rank_samples, std::int64_t window_samples) {
  reducer_.begin_window(static_cast<double>(rank_samples) / static_cast<double>(window_samples));
}

Tally TrainingStep::run_micro_batch(const Batch& batch) {
  reducer_.begin_micro_batch(batch.micro_batch.last_of_window);
  if (batch.samples == 0) return {};
  const ForwardPass pass = [&] {
    const ProfileRange range("forward");
    return forward(replica_.model(), precision_, batch, options_.label_smoothing);
  }();
  const Tally tally = tally_of(pass);
  // The gradient of (sum of losses / samples of the whole window): tails and uneven shares weigh
  // right whatever the number of ranks and micro-batches.
  const double scale = replica_.scaler() == nullptr ? 1.0 : replica_.scaler()->scale();
  const double weight = scale / static_cast<double>(batch.micro_batch.window.samples);
  const ProfileRange range("backward");
  pass.loss_sum.backward(at::full_like(pass.loss_sum, weight));
  return tally;
}

double TrainingStep::wait_for_gradients() {
  const ProfileRange range("wait for gradients");
  const double began = options_.seconds ? options_.seconds() : 0.0;
  reducer_.finish();
  return options_.seconds ? options_.seconds() - began : 0.0;
}

StepReport TrainingStep::finish_window(double learning_rate) {
  const double wait_seconds = wait_for_gradients();
  const ProfileRange range("update");
  GradScaler* scaler = replica_.scaler();
  const double scale = scaler == nullptr ? 1.0 : scaler->scale();
  const double scaled_norm = l2_norm(replica_.parameters().gradients());
  const StepReport report{.grad_norm = scaled_norm / scale,
                          .applied = std::isfinite(scaled_norm),
                          .loss_scale = scale,
                          .wait_seconds = wait_seconds};
  if (report.applied) {
    update(learning_rate, clip_factor(report.grad_norm, options_.max_grad_norm) / scale);
  } else {
    reducer_.restore_buffers();
  }
  if (scaler != nullptr) scaler->update(!report.applied);
  return report;
}

void TrainingStep::update(double learning_rate, double gradient_factor) {
  if (gradient_factor != 1.0) replica_.parameters().gradients().mul_(gradient_factor);
  replica_.optimizer().step(learning_rate);
  if (WeightAverage* average = replica_.average()) {
    average->update(replica_.optimizer().applied_steps());
  }
}

}  // namespace lockstep
