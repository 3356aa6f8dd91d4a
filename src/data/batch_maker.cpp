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

/// `original`: memory for the image as it is before augmentation.
std::int64_t BatchMaker::read(std::int64_t id, std::int64_t epoch, std::span<float> image,
                              std::vector<float>& original) const {
  if (!transform_.augments()) {
    const std::int64_t label = read_sample(dataset_, id, image);
    transform_.normalize(image, dataset_.image_shape());
    return label;
  }
  original.resize(image.size());
  const std::int64_t label = read_sample(dataset_, id, original);
  transform_.apply(transform_.draw(seed_, epoch, id), original, dataset_.image_shape(), image);
  return label;
}

void BatchMaker::make(Batch& batch, const MicroBatch& micro_batch, std::int64_t epoch,
                      const std::optional<EpochOrder>& order) const {
  batch.reading.reset();
  const SampleRange share = share_of(micro_batch.range, rank_, world_);
  const auto count = static_cast<std::size_t>(share.samples);
  batch.micro_batch = micro_batch;
  batch.samples = share.samples;
  batch.image_shape = dataset_.image_shape();
  const auto image_size = static_cast<std::size_t>(batch.image_shape.size());
  batch.images.resize(count * image_size);
  batch.labels.resize(count);
  batch.ids.resize(count);
  std::vector<float> original;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t position = share.first + static_cast<std::int64_t>(i);
    batch.ids[i] = order ? order->at(position) : position;
    batch.labels[i] = read(batch.ids[i], epoch,
                           std::span(batch.images).subspan(i * image_size, image_size), original);
  }
}

}  // namespace lockstep
