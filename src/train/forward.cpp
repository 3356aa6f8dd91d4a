#include "lockstep/train/forward.hpp"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>

#include "lockstep/model/autocast.hpp"
#include "lockstep/model/dtype.hpp"

namespace lockstep {

at::Tensor logits_of(Model& model, const Precision& precision, const DeviceBatch& batch) {
  at::Tensor logits;
  {
    const AutocastScope autocast(precision.autocast, precision.autocast_dtype,
                                 batch.images.device().type());
    logits = model.forward(batch.images);
  }
  // Log-sum-exp loses too much in 16 bits.
  return logits.to(scalar_type_of(precision.parameters));
}

ForwardPass forward(Model& model, const Precision& precision, const DeviceBatch& batch,
                    double label_smoothing) {
  ForwardPass pass;
  pass.labels = batch.labels;
  pass.logits = logits_of(model, precision, batch);
  pass.loss_sum =
      at::cross_entropy_loss(pass.logits, pass.labels, /*weight=*/{}, at::Reduction::Sum,
                             /*ignore_index=*/-100, label_smoothing);
  return pass;
}

}  // namespace lockstep
