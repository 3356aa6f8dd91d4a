#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Reduction.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/ddp/gradient_reducer.hpp"
#include "lockstep/model/mini_resnet.hpp"

namespace lockstep::test {

/// A batch every rank can make for itself: `samples` 3 x 8 x 8 images and their classes (of 4).
struct Batch {
  at::Tensor images;
  at::Tensor targets;

  std::int64_t samples() const { return images.size(0); }
  Batch part(std::int64_t begin, std::int64_t count) const {
    return {images.narrow(0, begin, count), targets.narrow(0, begin, count)};
  }
};

inline Batch make_batch(std::int64_t samples, std::int64_t start = 0,
                        at::ScalarType type = at::kDouble) {
  const at::Tensor numbers = at::arange(start * 192, (start + samples) * 192, at::kDouble);
  return {numbers.mul(0.37)
              .sin()
              .reshape({samples, 3, 8, 8})
              .to(type)
              .contiguous(at::MemoryFormat::ChannelsLast),
          at::arange(start, start + samples, at::kLong).mul(7).remainder(4)};
}

inline std::unique_ptr<Model> make_model(const NormFactory& norm, DType dtype = DType::float64,
                                         std::uint64_t seed = 3) {
  auto model = make_mini_resnet({3, 4, 8}, 8, norm, seed);
  convert(*model, dtype, MemoryFormat::channels_last);
  return model;
}

/// Adds the gradient of the part's share of the mean loss over `window_samples`.
inline void learn_from(Model& model, const Batch& part, std::int64_t window_samples) {
  const at::Tensor sum =
      at::cross_entropy_loss(model.forward(part.images), part.targets, {}, at::Reduction::Sum);
  sum.div(static_cast<double>(window_samples)).backward();
}

/// This rank's [begin, end) of [0, samples): contiguous parts that differ by at most one, the
/// larger ones first.
inline std::pair<std::int64_t, std::int64_t> share_of(std::int64_t samples,
                                                      const Communicator& comm) {
  const std::int64_t least = samples / comm.size();
  const std::int64_t more = samples % comm.size();
  const std::int64_t begin = least * comm.rank() + std::min<std::int64_t>(comm.rank(), more);
  return {begin, begin + least + (comm.rank() < more ? 1 : 0)};
}

/// Cuts `batch` into micro-batches of ceil(samples / count) and calls `visit(share, is_last)` with
/// this rank's (possibly empty) share of each.
template <typename Visit>
void for_each_share(const Batch& batch, std::int64_t count, const Communicator& comm, Visit visit) {
  const std::int64_t samples = batch.samples();
  const std::int64_t micro = (samples + count - 1) / count;
  for (std::int64_t begin = 0; begin < samples; begin += micro) {
    const std::int64_t here = std::min(micro, samples - begin);
    const auto [first, end] = share_of(here, comm);
    visit(batch.part(begin + first, end - first), begin + here == samples);
  }
}

/// A model made data-parallel, with buckets small enough that there are several of them.
struct Replica {
  std::unique_ptr<Model> model;
  FlatBuffers buffers;
  FlatParameters parameters;
  GradientReducer reducer;

  Replica(std::unique_ptr<Model> network, Communicator& comm, ReductionObserver observer = {})
      : model(std::move(network)),
        buffers(model->buffers()),
        parameters(model->parameters(), buffers.values().numel()),
        reducer(
            parameters, buffers, comm,
            {.bucket_bytes = std::int64_t{64} << 10, .last_bucket_bytes = std::int64_t{16} << 10},
            std::move(observer)) {}

  /// Returns the number of micro-batches.
  std::int64_t run_window(const Batch& batch, std::int64_t micro_batches, Communicator& comm) {
    std::int64_t mine = 0;
    for_each_share(batch, micro_batches, comm,
                   [&](const Batch& share, bool) { mine += share.samples(); });
    reducer.begin_window(static_cast<double>(mine) / static_cast<double>(batch.samples()));
    std::int64_t count = 0;
    for_each_share(batch, micro_batches, comm, [&](const Batch& share, bool last) {
      reducer.begin_micro_batch(last);
      if (share.samples() > 0) learn_from(*model, share, batch.samples());
      ++count;
    });
    reducer.finish();
    return count;
  }
};

}  // namespace lockstep::test
