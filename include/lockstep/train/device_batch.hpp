#pragma once

#include <optional>

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include "lockstep/base/dtype.hpp"
#include "lockstep/data/loader.hpp"

namespace lockstep {

/// A batch with samples where the model computes.
struct DeviceBatch {
  at::Tensor images;  ///< [samples, C, H, W], in the model's dtype, channels last
  at::Tensor labels;  ///< [samples], int64
};

/// Takes batches to a device. To a GPU they go in a stream of its own, beside what the GPU computes
/// meanwhile; the caller waits for nothing where the batch's memory is pinned.
class BatchUpload {
 public:
  /// `dtype`: of the images there.
  BatchUpload(at::Device device, DType dtype);

  /// The batch must have samples. On a CPU the labels borrow its memory; towards a GPU all of it is
  /// read until `batch.reading` is gone. What is queued on the device from now on finds the tensors
  /// complete. Not collective.
  DeviceBatch operator()(Batch& batch) const;

 private:
  at::Device device_;
  at::ScalarType type_;
  std::optional<c10::Stream> copies_;  // none on a CPU
};

}  // namespace lockstep
