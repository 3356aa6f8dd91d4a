#include "data/hdf5_samples.hpp"

#include <utility>

#include "lockstep/base/error.hpp"

#include "data/hdf5_parts.hpp"

namespace lockstep {

std::unique_ptr<Dataset> read_hdf5_samples(const Hdf5File& file, const SampleKeys& keys,
                                           const SampleExpectation& expected) {
  Hdf5Images images = read_hdf5_images(file, keys.images, expected);
  Hdf5Labels labels = read_hdf5_labels(file, keys.labels, keys.images, images.layout.samples,
                                       expected.image.num_classes);
  return std::make_unique<MemoryDataset>(
      file.path().string() + ":" + keys.name, images.layout.shape, labels.num_classes,
      std::move(images.pixels), images.scale, std::move(labels.labels));
}

void refuse_dataset(const Hdf5File& file, const std::string& dataset, std::string reason,
                    std::string remedy) {
  throw UsageError("read " + dataset + " in " + file.path().string(), std::move(reason),
                   std::move(remedy));
}

}  // namespace lockstep
