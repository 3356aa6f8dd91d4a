#include "ddp/buffer_average.hpp"

#include <utility>

#include <ATen/ops/add.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros_like.h>

#include "lockstep/base/error.hpp"

namespace lockstep {

GradientReducer::BufferAverage::BufferAverage(FlatBuffers& buffers, at::Tensor tail)
    : buffers_(buffers),
      tail_(std::move(tail)),
      before_(at::zeros_like(buffers.values())),
      counters_before_(buffers.counters().size()) {
  check(tail_.numel() == before_.numel() &&
            (before_.numel() == 0 || tail_.scalar_type() == before_.scalar_type()),
        "join the running buffers to the gradients' message",
        "the flat gradients' tail differs from the buffers in size or dtype");
}

void GradientReducer::BufferAverage::begin_window(double share) {
  share_ = share;
  before_.copy_(buffers_.values());
  for (std::size_t i = 0; i < counters_before_.size(); ++i) {
    counters_before_[i] = buffers_.counters()[i].item<std::int64_t>();
  }
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
  for (std::size_t i = 0; i < counters_before_.size(); ++i) {
    buffers_.counters()[i].fill_(counters_before_[i] + micro_batches);
  }
}

void GradientReducer::BufferAverage::restore() {
  buffers_.values().copy_(before_);
  for (std::size_t i = 0; i < counters_before_.size(); ++i) {
    buffers_.counters()[i].fill_(counters_before_[i]);
  }
}

}  // namespace lockstep
