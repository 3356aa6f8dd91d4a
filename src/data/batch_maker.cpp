#include "data/batch_maker.hpp"

#include <span>
#include <string>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

std::int64_t read_sample(const Dataset& dataset, std::int64_t id, std::span<float> image) {
  try {
    return dataset.read(id, image);
  } catch (const std::exception& failure) {
    throw Error("load sample " + std::to_string(id) + " of " + dataset.name(), failure.what());
  }
}

}  // namespace

void BatchMaker::make(Batch& batch, const MicroBatch& micro_batch,
                      const std::optional<EpochOrder>& order) const {
  const SampleRange share = share_of(micro_batch.range, rank_, world_);
  const auto count = static_cast<std::size_t>(share.samples);
  batch.micro_batch = micro_batch;
  batch.samples = share.samples;
  batch.image_shape = dataset_.image_shape();
  const auto image_size = static_cast<std::size_t>(batch.image_shape.size());
  batch.images.resize(count * image_size);
  batch.labels.resize(count);
  batch.ids.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t position = share.first + static_cast<std::int64_t>(i);
    batch.ids[i] = order ? order->at(position) : position;
    batch.labels[i] = read_sample(dataset_, batch.ids[i],
                                  std::span(batch.images).subspan(i * image_size, image_size));
  }
}

}  // namespace lockstep
