#include "lockstep/train/device_meters.hpp"

#include <cstdint>

#include <ATen/ops/zeros.h>
#include <c10/core/TensorOptions.h>

#include "lockstep/train/outcomes.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t epoch_row = 0;
constexpr std::int64_t interval_row = 1;

}  // namespace

DeviceMeters::DeviceMeters(at::Device device)
    : values_(at::zeros({2, std::int64_t{tally_fields}},
                        at::TensorOptions(device).dtype(at::kDouble))) {}

void DeviceMeters::set(const LoopState& loop) {
  values_[epoch_row].copy_(outcomes_as(loop.epoch.tally, values_.device()));
  values_[interval_row].copy_(outcomes_as(loop.interval_tally, values_.device()));
}

void DeviceMeters::add(const at::Tensor& outcomes) {
  if (outcomes.defined()) values_.add_(outcomes);
}

void DeviceMeters::begin_epoch() {
  values_[epoch_row].zero_();
}

void DeviceMeters::begin_interval() {
  values_[interval_row].zero_();
}

}  // namespace lockstep
