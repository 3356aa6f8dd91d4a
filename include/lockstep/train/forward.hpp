#pragma once

#include <ATen/core/Tensor.h>

#include "lockstep/data/loader.hpp"
#include "lockstep/model/model.hpp"
#include "lockstep/train/precision.hpp"
#include "lockstep/train/tally.hpp"

namespace lockstep {

/// What a model says of a batch. Labels borrow the batch's memory.
struct ForwardPass {
  at::Tensor labels;    ///< [samples], int64
  at::Tensor logits;    ///< [samples, classes], in the parameters' dtype
  at::Tensor loss_sum;  ///< scalar, in the parameters' dtype: the sum of the samples' losses
};

/// The model's scores of a batch with samples: [samples, classes], in the parameters' dtype. Not
/// collective.
at::Tensor logits_of(Model& model, const Precision& precision, const Batch& batch);

/// Scores and cross-entropy of a batch with samples. Not collective.
ForwardPass forward(Model& model, const Precision& precision, const Batch& batch,
                    double label_smoothing);

/// Not collective.
Tally tally_of(const ForwardPass& pass);

}  // namespace lockstep
