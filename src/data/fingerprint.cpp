#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include <xxhash.h>

#include "lockstep/base/error.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little, "the hash is of little-endian values");

constexpr std::int64_t most_images = 1024;

class Hash {
 public:
  Hash() : state_(XXH3_createState(), &XXH3_freeState) {
    check(state_ != nullptr && XXH3_128bits_reset(state_.get()) == XXH_OK, "start a hash",
          "out of memory");
  }

  template <typename T>
  void add(std::span<const T> values) {
    XXH3_128bits_update(state_.get(), values.data(), values.size_bytes());
  }

  std::string text() const {
    const XXH128_hash_t value = XXH3_128bits_digest(state_.get());
    std::array<char, 33> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                  static_cast<unsigned long long>(value.high64),
                  static_cast<unsigned long long>(value.low64));
    return digits.data();
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace

std::string fingerprint(const Dataset& dataset) {
  const std::int64_t size = dataset.size();
  const ImageShape shape = dataset.image_shape();
  Hash hash;
  hash.add<std::int64_t>(
      std::array{size, shape.channels, shape.height, shape.width, dataset.num_classes()});
  for (std::int64_t id = 0; id < size; ++id) {
    hash.add<std::int64_t>(std::array{dataset.label(id)});
  }
  std::vector<float> image(static_cast<std::size_t>(shape.size()));
  const std::int64_t images = std::min(size, most_images);
  for (std::int64_t i = 0; i < images; ++i) {
    // i * size / images without overflow: the quotient and the remainder apart.
    dataset.read(i * (size / images) + i * (size % images) / images, image);
    hash.add<float>(image);
  }
  return hash.text();
}

}  // namespace lockstep
