#include "ddp/tensor_buffer.hpp"

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"
#include "lockstep/model/dtype.hpp"

namespace lockstep {
namespace {

/// What is computed on a GPU is computed in its default stream.
MemoryKind memory_of(const at::Tensor& tensor) {
  return tensor.is_cpu() ? MemoryKind::host : MemoryKind::cuda;
}

void check_sendable(const at::Tensor& tensor) {
  check(tensor.is_contiguous(), "send a tensor's memory", "it is not one contiguous block");
}

}  // namespace

Buffer buffer_of(const at::Tensor& tensor) {
  check_sendable(tensor);
  return {.data = tensor.data_ptr(),
          .count = tensor.numel(),
          .dtype = dtype_of(tensor.scalar_type()),
          .memory = memory_of(tensor)};
}

Buffer bytes_of(const at::Tensor& tensor) {
  check_sendable(tensor);
  return {.data = tensor.data_ptr(),
          .count = narrow<std::int64_t>(tensor.nbytes()),
          .dtype = DType::uint8,
          .memory = memory_of(tensor)};
}

}  // namespace lockstep
