#include "lockstep/train/forward.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/TensorOptions.h>

#include "lockstep/model/autocast.hpp"
#include "lockstep/model/dtype.hpp"
#include "lockstep/train/outcomes.hpp"

namespace lockstep {
namespace {

// The batch's memory is only borrowed: images are copied and labels read before it is recycled.
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

ForwardPass forward(Model& model, const Precision& precision, const Batch& batch,
                    double label_smoothing) {
  ForwardPass pass;
  pass.labels =
      at::from_blob(const_cast<std::int64_t*>(batch.labels.data()), {batch.samples}, at::kLong);
  pass.logits = logits_of(model, precision, batch);
  pass.loss_sum =
      at::cross_entropy_loss(pass.logits, pass.labels, /*weight=*/{}, at::Reduction::Sum,
                             /*ignore_index=*/-100, label_smoothing);
  return pass;
}

Tally tally_of(const ForwardPass& pass) {
  Tally tally;
  tally.loss_sum = pass.loss_sum.item<double>();
  count_outcomes(pass.logits.detach(), pass.labels, tally);
  return tally;
}

}  // namespace lockstep
