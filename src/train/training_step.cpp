#include "lockstep/train/training_step.hpp"

#include <cmath>
#include <cstddef>

#include <ATen/core/Tensor.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>

#include "lockstep/optim/gradient_norm.hpp"
#include "lockstep/train/forward.hpp"
#include "lockstep/train/outcomes.hpp"
#include "lockstep/train/step_profiler.hpp"

namespace lockstep {

StepReport report_of(std::span<const double> numbers) {
  return {.grad_norm = numbers[0],
          .applied = numbers[1] == 0.0,
          .loss_scale = numbers[2],
          .next_loss_scale = numbers[3]};
}

StepReport report_of(const StepResult& result) {
  const at::Tensor here = result.numbers.cpu();
  return report_of(std::span(here.const_data_ptr<double>(), std::size_t{StepResult::fields}));
}

void TrainingStep::begin_window(std::int64_t rank_samples, std::int64_t window_samples) {
  reducer_.begin_window(static_cast<double>(rank_samples) / static_cast<double>(window_samples));
}

at::Tensor TrainingStep::run_micro_batch(Batch& batch) {
  reducer_.begin_micro_batch(batch.micro_batch.last_of_window);
  if (batch.samples == 0) return {};
  const ForwardPass pass = [&] {
    const ProfileRange range("forward");
    return forward(replica_.model(), precision_, upload_(batch), options_.label_smoothing);
  }();
  at::Tensor outcomes = outcomes_of(pass);
  // The gradient of (sum of losses / samples of the whole window): tails and uneven shares weigh
  // right whatever the number of ranks and micro-batches.
  const auto samples = static_cast<double>(batch.micro_batch.window.samples);
  const GradScaler* scaler = replica_.scaler();
  const at::Tensor weight = scaler == nullptr
                                ? at::full_like(pass.loss_sum, 1.0 / samples)
                                : scaler->scale().div(samples).to(pass.loss_sum.scalar_type());
  const ProfileRange range("backward");
  pass.loss_sum.backward(weight);
  return outcomes;
}

double TrainingStep::wait_for_gradients() {
  const ProfileRange range("wait for gradients");
  const double began = options_.seconds ? options_.seconds() : 0.0;
  reducer_.finish();
  return options_.seconds ? options_.seconds() - began : 0.0;
}

StepResult TrainingStep::finish_window(double learning_rate) {
  const double wait_seconds = wait_for_gradients();
  const ProfileRange range("update");
  GradScaler* scaler = replica_.scaler();
  const at::Tensor scaled_norm = l2_norm(replica_.parameters().gradients());
  const at::Tensor bad = scaled_norm.isfinite().logical_not().to(at::kFloat);
  const at::Tensor scale = scaler == nullptr ? at::ones_like(scaled_norm) : scaler->scale().clone();
  const at::Tensor norm = scaled_norm.div(scale);

  adjust_gradients(norm);
  Optimizer& optimizer = replica_.optimizer();
  optimizer.step(learning_rate, bad);
  if (WeightAverage* average = replica_.average()) {
    average->update(optimizer.applied_steps_there(), bad);
  }
  reducer_.restore_buffers_if(bad);
  if (scaler != nullptr) scaler->update(bad);
  const at::Tensor& next_scale = scaler == nullptr ? scale : scaler->scale();
  return {.numbers = at::stack({norm, bad.to(at::kDouble), scale, next_scale}),
          .wait_seconds = wait_seconds};
}

void TrainingStep::adjust_gradients(const at::Tensor& norm) {
  const GradScaler* scaler = replica_.scaler();
  at::Tensor factor;
  if (options_.max_grad_norm > 0.0) factor = clip_factor(norm, options_.max_grad_norm);
  if (scaler != nullptr) {
    factor = factor.defined() ? factor.div(scaler->scale()) : scaler->scale().reciprocal();
  }
  if (factor.defined()) replica_.parameters().gradients().mul_(factor);
}

}  // namespace lockstep
