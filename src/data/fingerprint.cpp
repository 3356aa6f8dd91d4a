#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "lockstep/base/content_hash.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little, "the hash is of little-endian values");

constexpr std::int64_t most_images = 1024;

}  // namespace

std::string fingerprint(const Dataset& dataset) {
  const std::int64_t size = dataset.size();
  const ImageShape shape = dataset.image_shape();
  ContentHash hash;
  hash.add_values<std::int64_t>(
      std::array{size, shape.channels, shape.height, shape.width, dataset.num_classes()});
  for (std::int64_t id = 0; id < size; ++id) {
    hash.add_values<std::int64_t>(std::array{dataset.label(id)});
  }
  std::vector<float> image(static_cast<std::size_t>(shape.size()));
  const std::int64_t images = std::min(size, most_images);
  for (std::int64_t i = 0; i < images; ++i) {
    // i * size / images without overflow: the quotient and the remainder apart.
    dataset.read(i * (size / images) + i * (size % images) / images, image);
    hash.add_values<float>(image);
  }
  return hash.text();
}

}  // namespace lockstep
