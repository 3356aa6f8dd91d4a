#include "ddp/buffer_average.hpp"

#include <utility>

#include <ATen/ops/add.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "lockstep/base/error.hpp"

namespace lockstep {

GradientReducer::BufferAverage::BufferAverage(FlatBuffers& buffers, at::Tensor tail)
    : buffers_(buffers),
      tail_(std::move(tail)),
      before_(at::zeros_like(buffers.values())),
      counters_before_(at::zeros_like(buffers.counter_values())) {
  check(tail_.numel() == before_.numel() &&
            (before_.numel() == 0 || tail_.scalar_type() == before_.scalar_type()),
        "join the running buffers to the gradients' message",
        "the flat gradients' tail differs from the buffers in size or dtype");
}

void GradientReducer::BufferAverage::begin_window(double share) {
  share_ = share;
  before_.copy_(buffers_.values());
  counters_before_.copy_(buffers_.counter_values());
}

void GradientReducer::BufferAverage::write_tail() {
  at::sub_out(tail_, buffers_.values(), before_);
  tail_.mul_(share_);
}

void GradientReducer::BufferAverage::adopt(bool alone, std::int64_t micro_batches) {
  if (!alone) {
    at::Tensor values = buffers_.values();
    at::add_out(values, before_, tail_);
  }
  buffers_.counter_values().copy_(counters_before_).add_(micro_batches);
}

void GradientReducer::BufferAverage::restore_if(const at::Tensor& bad) {
  const at::Tensor skipped = bad.ne(0);
  const auto restore = [&](const at::Tensor& live, const at::Tensor& before) {
    if (live.numel() > 0) live.copy_(at::where(skipped, before, live));
  };
  restore(buffers_.values(), before_);
  restore(buffers_.counter_values(), counters_before_);
}

}  // namespace lockstep
