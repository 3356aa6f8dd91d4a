#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/data/image_options.hpp"

namespace lockstep {

/// How an array holds images.
struct ImageLayout {
  std::int64_t samples = 0;
  ImageShape shape;
  bool channels_last = false;
};

/// The ways to see images in an array of these extents, likely ones alone: NHW for three extents;
/// for four those of NCHW and NHWC, in this order, that remain when one after the other of these is
/// asked for, unless none would remain: it fits `expected`; images have at most four channels;
/// images are square. `name` (NCHW, NHWC or NHW; "auto": unknown) allows only one of them. Empty
/// where the extents are no set of images, or not what the name says.
std::vector<ImageLayout> likely_layouts(const std::vector<std::int64_t>& extents,
                                        const std::string& name, const ImageOptions& expected);

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
