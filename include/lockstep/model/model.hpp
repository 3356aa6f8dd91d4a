#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lockstep/base/dtype.hpp"
#include "lockstep/base/field.hpp"
#include "lockstep/model/named_tensor.hpp"

namespace lockstep {

/// How 4-d tensors lie in memory: NCHW, or the same sizes with channels innermost.
enum class MemoryFormat { contiguous, channels_last };

/// A network whose parameters and buffers are known by name. One thread at a time.
class Model {
 public:
  virtual ~Model() = default;

  /// Logits [n, num_classes] of images [n, channels, height, width], n >= 1, in the model's dtype
  /// (under autocast the logits may be narrower). In training mode the running statistics move.
  virtual at::Tensor forward(const at::Tensor& images) = 0;

  /// In registration order, under PyTorch's dotted names. The tensors stay the model's own: what is
  /// written to them is seen by the next forward().
  virtual std::vector<NamedTensor> parameters() const = 0;
  /// What is neither learnt nor constant, e.g. running means; order and names as parameters().
  virtual std::vector<NamedTensor> buffers() const = 0;

  /// Training mode (as built) or evaluation mode, which uses and keeps the running statistics.
  virtual void set_training(bool training) = 0;

  /// For the log: by which algorithms it convolves where it computes in `dtype`, and why, where
  /// there is something to say.
  virtual std::string convolutions(DType /*dtype*/) const { return {}; }
};

/// Takes parameters and buffers to `device` and gives floating-point ones the element type, 4-d
/// ones the memory format. To be called before anything holds views of them (FlatParameters,
/// FlatBuffers) and before the first forward().
void convert(Model& model, DType dtype, MemoryFormat format, at::Device device = at::kCPU);

/// Where the model's parameters are.
at::Device device_of(const Model& model);

/// The sum of all parameters' elements.
std::int64_t parameter_count(const Model& model);

/// What a data set asks of a classifier.
struct ImageClassifierShape {
  std::int64_t in_channels = 3;
  std::int64_t num_classes = 10;
  std::int64_t image_size = 32;  ///< height and width in pixels
};

/// Holds a kind of model's options and builds it.
class ModelBuilder {
 public:
  virtual ~ModelBuilder() = default;

  /// Refers to this builder, which must outlive the table.
  virtual FieldTable fields() = 0;

  /// In float32, contiguous, in training mode. The initial values are those PyTorch gives the same
  /// network after torch.manual_seed(seed); no global generator is touched.
  virtual std::unique_ptr<Model> build(const ImageClassifierShape& shape,
                                       std::uint64_t seed) const = 0;
};

}  // namespace lockstep
