#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/model/model.hpp"
#include "lockstep/train/device_batch.hpp"
#include "lockstep/train/precision.hpp"

namespace lockstep {

/// What a model says of a batch; everything on the model's device.
struct ForwardPass {
  at::Tensor labels;    ///< [samples], int64
  at::Tensor logits;    ///< [samples, classes], in the parameters' dtype
  at::Tensor loss_sum;  ///< scalar, in the parameters' dtype: the sum of the samples' losses
};

/// The model's scores of a batch: [samples, classes], in the parameters' dtype. Not collective.
at::Tensor logits_of(Model& model, const Precision& precision, const DeviceBatch& batch);

/// Scores and cross-entropy of a batch. Not collective.
ForwardPass forward(Model& model, const Precision& precision, const DeviceBatch& batch,
                    double label_smoothing);

}  // namespace lockstep
