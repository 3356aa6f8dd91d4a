#include "lockstep/train/host_copy.hpp"

#include <cstddef>

#include <ATen/ops/empty.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "lockstep/base/narrow.hpp"

namespace lockstep {

HostCopy::HostCopy(const at::Tensor& numbers) {
  const at::Device device = numbers.device();
  if (device.is_cpu()) {
    here_ = numbers.clone();
    return;
  }
  here_ = at::empty(numbers.sizes(), at::TensorOptions(at::kDouble).pinned_memory(true));
  here_.copy_(numbers, /*non_blocking=*/true);
  arrived_.emplace(device.type());
  arrived_->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

std::span<const double> HostCopy::wait() const {
  if (arrived_) arrived_->synchronize();
  return {here_.const_data_ptr<double>(), narrow<std::size_t>(here_.numel())};
}

}  // namespace lockstep
