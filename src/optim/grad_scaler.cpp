#include "lockstep/optim/grad_scaler.hpp"

#include <limits>

#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/core/TensorOptions.h>

namespace lockstep {

FieldTable fields(GradScalerOptions& options) {
  return {field("loss_scale", options.initial_scale, "float16: first factor of losses", above(0.0)),
          field("loss_scale_growth_interval", options.growth_interval,
                "float16: steps without overflow before the loss scale doubles", at_least(1)),
          field("loss_scale_min", options.smallest_scale,
                "float16: where halving the loss scale after overflows ends", above(0.0))};
}

GradScaler::GradScaler(const GradScalerOptions& options, at::Device device)
    : options_(options),
      scale_(at::full({}, options.initial_scale, at::TensorOptions(device).dtype(at::kDouble))),
      growth_tracker_(at::zeros({}, at::TensorOptions(device).dtype(at::kLong))) {}

void GradScaler::update(const at::Tensor& overflowed) {
  const at::Tensor bad = overflowed.ne(0);
  // A scale that began below the floor stays where it is.
  const at::Tensor floor = scale_.clamp_max(options_.smallest_scale);
  const at::Tensor lower = at::maximum(scale_.mul(options_.backoff_factor), floor);

  growth_tracker_.add_(1).masked_fill_(bad, 0);
  const at::Tensor due = growth_tracker_.ge(options_.growth_interval);
  growth_tracker_.masked_fill_(due, 0);
  const at::Tensor higher = scale_.mul(options_.growth_factor);
  const at::Tensor grows = due.logical_and(higher.le(std::numeric_limits<float>::max()));
  scale_.copy_(at::where(bad, lower, at::where(grows, higher, scale_)));
}

GradScalerState GradScaler::state() const {
  return {.scale = scale_.item<double>(), .growth_tracker = growth_tracker_.item<std::int64_t>()};
}

void GradScaler::restore(const GradScalerState& state) {
  scale_.fill_(state.scale);
  growth_tracker_.fill_(state.growth_tracker);
}

}  // namespace lockstep
