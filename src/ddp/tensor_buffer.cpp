#include "ddp/tensor_buffer.hpp"

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"
#include "lockstep/model/dtype.hpp"

namespace lockstep {
namespace {

void check_sendable(const at::Tensor& tensor) {
  check(tensor.is_contiguous() && tensor.is_cpu(), "send a tensor's memory",
        "it is not one contiguous block in host memory");
}

}  // namespace

Buffer buffer_of(const at::Tensor& tensor) {
  check_sendable(tensor);
  return {
      .data = tensor.data_ptr(), .count = tensor.numel(), .dtype = dtype_of(tensor.scalar_type())};
}

Buffer bytes_of(const at::Tensor& tensor) {
  check_sendable(tensor);
  return {.data = tensor.data_ptr(),
          .count = narrow<std::int64_t>(tensor.nbytes()),
          .dtype = DType::uint8};
}

}  // namespace lockstep
