#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// How an array holds images.
struct ImageLayout {
  std::int64_t samples = 0;
  ImageShape shape;
  bool channels_last = false;
};

/// The layout of an array of these extents: `name` (NCHW, NHWC or NHW) where it is given, or else
/// the first of NHW, NCHW, NHWC that fits the number of extents and, where it can, `expected`.
/// Empty where the extents are no set of images, or not what the name says.
std::optional<ImageLayout> image_layout_of(const std::vector<std::int64_t>& extents,
                                           const std::optional<std::string>& name,
                                           const ImageShape& expected);

/// Turns each image from H x W x C into C x H x W, in place.
template <typename T>
void move_channels_first(std::span<T> images, const ImageShape& shape) {
  const auto image_size = static_cast<std::size_t>(shape.size());
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t plane = image_size / channels;
  std::vector<T> turned(image_size);
  for (std::size_t first = 0; first < images.size(); first += image_size) {
    const std::span<T> image = images.subspan(first, image_size);
    for (std::size_t pixel = 0; pixel < plane; ++pixel) {
      for (std::size_t channel = 0; channel < channels; ++channel) {
        turned[channel * plane + pixel] = image[pixel * channels + channel];
      }
    }
    std::copy(turned.begin(), turned.end(), image.begin());
  }
}

}  // namespace lockstep
