#include "lockstep/train/training_step.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full_like.h>
#include <c10/core/TensorOptions.h>

#include "lockstep/model/autocast.hpp"
#include "lockstep/model/dtype.hpp"
#include "lockstep/optim/gradient_norm.hpp"
#include "lockstep/train/outcomes.hpp"
#include "lockstep/train/step_profiler.hpp"

namespace lockstep {
namespace {

struct Prediction {
  at::Tensor loss_sum;  // scalar, in the parameters' dtype
  Tally tally;
};

// The batch's memory is only borrowed; labels and images are read before it is recycled.
at::Tensor images_of(const Batch& batch, DType dtype) {
  const ImageShape& shape = batch.image_shape;
  const at::Tensor images =
      at::from_blob(const_cast<float*>(batch.images.data()),
                    {batch.samples, shape.channels, shape.height, shape.width}, at::kFloat);
  return images.to(at::TensorOptions().dtype(scalar_type_of(dtype)), /*non_blocking=*/false,
                   /*copy=*/true, at::MemoryFormat::ChannelsLast);
}

}  // namespace

at::Tensor logits_of(Model& model, const Precision& precision, const Batch& batch) {
  at::Tensor logits;
  {
    const AutocastScope autocast(precision.autocast, precision.autocast_dtype);
    logits = model.forward(images_of(batch, precision.parameters));
  }
  // Log-sum-exp loses too much in 16 bits.
  return logits.to(scalar_type_of(precision.parameters));
}

namespace {

Prediction predict(Model& model, const Precision& precision, const Batch& batch,
                   double label_smoothing) {
  const at::Tensor labels =
      at::from_blob(const_cast<std::int64_t*>(batch.labels.data()), {batch.samples}, at::kLong);
  const at::Tensor logits = logits_of(model, precision, batch);
  Prediction prediction;
  prediction.loss_sum = at::cross_entropy_loss(logits, labels, /*weight=*/{}, at::Reduction::Sum,
                                               /*ignore_index=*/-100, label_smoothing);
  prediction.tally.loss_sum = prediction.loss_sum.item<double>();
  count_outcomes(logits.detach(), labels, prediction.tally);
  return prediction;
}

}  // namespace

void TrainingStep::begin_window(std::int64_t rank_samples, std::int64_t window_samples) {
  reducer_.begin_window(static_cast<double>(rank_samples) / static_cast<double>(window_samples));
}

Tally TrainingStep::run_micro_batch(const Batch& batch) {
  reducer_.begin_micro_batch(batch.micro_batch.last_of_window);
  if (batch.samples == 0) return {};
  Prediction prediction = [&] {
    const ProfileRange range("forward");
    return predict(replica_.model(), precision_, batch, options_.label_smoothing);
  }();
  // The gradient of (sum of losses / samples of the whole window): tails and uneven shares weigh
  // right whatever the number of ranks and micro-batches.
  const double scale = replica_.scaler() == nullptr ? 1.0 : replica_.scaler()->scale();
  const double weight = scale / static_cast<double>(batch.micro_batch.window.samples);
  const ProfileRange range("backward");
  prediction.loss_sum.backward(at::full_like(prediction.loss_sum, weight));
  return prediction.tally;
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

Tally evaluate(Model& model, const Precision& precision, Loader& loader, Communicator& comm) {
  const at::NoGradGuard no_gradients;
  model.set_training(false);
  loader.start_epoch(0);
  Tally tally;
  while (std::optional<Batch> batch = loader.next()) {
    if (batch->samples > 0) {
      tally += predict(model, precision, *batch, /*label_smoothing=*/0.0).tally;
    }
    loader.recycle(std::move(*batch));
  }
  model.set_training(true);
  return reduced(comm, tally, "validation sums");
}

}  // namespace lockstep
