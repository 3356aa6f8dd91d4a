#include "lockstep/data/image_transform.hpp"

#include <algorithm>
#include <cstddef>

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"
#include "lockstep/base/philox.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t augmentation_stream = 0x61756701;  // keeps the draws apart from other uses

std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}
std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32U);
}

/// Uniform in [0, count), but for a bias of count / 2^32.
std::int64_t below(std::int64_t count, std::uint32_t word) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(count) * word) >> 32U);
}

}  // namespace

ImageTransform::ImageTransform(std::optional<ChannelStatistics> statistics,
                               std::int64_t crop_padding, bool horizontal_flip)
    : statistics_(std::move(statistics)),
      crop_padding_(crop_padding),
      horizontal_flip_(horizontal_flip) {}

ImageTransform::Line ImageTransform::line_of(std::size_t channel) const {
  if (!statistics_) return {1.0F, 0.0F};
  const std::size_t i = statistics_->mean.size() == 1 ? 0 : channel;
  const double deviation = statistics_->deviation.at(i);
  return {static_cast<float>(1.0 / deviation),
          static_cast<float>(-statistics_->mean.at(i) / deviation)};
}

AugmentationDraw ImageTransform::draw(std::uint64_t seed, std::int64_t epoch,
                                      std::int64_t id) const {
  const auto sample = static_cast<std::uint64_t>(id);
  const auto words =
      philox4x32({low(sample), augmentation_stream, narrow<std::uint32_t>(epoch), high(sample)},
                 {low(seed), high(seed)});
  const std::int64_t places = 2 * crop_padding_ + 1;
  return {.top = below(places, words[0]),
          .left = below(places, words[1]),
          .mirrored = horizontal_flip_ && (words[2] >> 31U) != 0};
}

void ImageTransform::apply(const AugmentationDraw& draw, std::span<const float> image,
                           const ImageShape& shape, std::span<float> out) const {
  check(std::cmp_equal(image.size(), shape.size()) && out.size() == image.size(),
        "augment an image", "the memory for it has another size");
  const std::int64_t down = draw.top - crop_padding_;    // row y shows row y + down
  const std::int64_t right = draw.left - crop_padding_;  // likewise
  // The columns [first, last) that show pixels of the image; the others show padding.
  const std::int64_t first = std::clamp<std::int64_t>(-right, 0, shape.width);
  const std::int64_t last = std::clamp<std::int64_t>(shape.width - right, first, shape.width);
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    const auto [scale, shift] = line_of(static_cast<std::size_t>(channel));
    for (std::int64_t y = 0; y < shape.height; ++y) {
      float* const row = out.data() + (channel * shape.height + y) * shape.width;
      const std::int64_t source_y = y + down;
      if (source_y < 0 || source_y >= shape.height) {
        std::fill_n(row, shape.width, shift);
        continue;
      }
      const float* const source = image.data() + (channel * shape.height + source_y) * shape.width;
      if (draw.mirrored) {
        const std::int64_t end = shape.width - 1;
        std::fill_n(row, shape.width - last, shift);
        for (std::int64_t x = first; x < last; ++x)
          row[end - x] = scale * source[x + right] + shift;
        std::fill_n(row + shape.width - first, first, shift);
      } else {
        std::fill_n(row, first, shift);
        for (std::int64_t x = first; x < last; ++x) row[x] = scale * source[x + right] + shift;
        std::fill_n(row + last, shape.width - last, shift);
      }
    }
  }
}

void ImageTransform::normalize(std::span<float> image, const ImageShape& shape) const {
  if (!statistics_) return;
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  for (std::size_t channel = 0; channel * plane < image.size(); ++channel) {
    const auto [scale, shift] = line_of(channel);
    for (float& value : image.subspan(channel * plane, plane)) value = scale * value + shift;
  }
}

std::string ImageTransform::normalization_text() const {
  return statistics_ ? statistics_->text() : "none";
}

std::string ImageTransform::description() const {
  std::string text = statistics_ ? "normalised by " + statistics_->text() + " (means/deviations)"
                                 : "not normalised";
  if (crop_padding_ > 0) text += ", random crops with padding " + std::to_string(crop_padding_);
  if (horizontal_flip_) text += ", mirrored at random";
  return text;
}

ImageTransform make_transform(const TransformOptions& options, const Dataset& training) {
  const ImageShape shape = training.image_shape();
  if (options.crop_padding >= std::min(shape.height, shape.width)) {
    throw UsageError("cut random crops from " + training.name(),
                     "crop_padding = " + std::to_string(options.crop_padding) +
                         " is not smaller than its images of " + std::to_string(shape.height) +
                         " x " + std::to_string(shape.width) + " pixels",
                     "4 is usual for 32 x 32 pixels");
  }
  if (options.normalize == "none") {
    return {std::nullopt, options.crop_padding, options.horizontal_flip};
  }
  const std::optional<ChannelStatistics> given = ChannelStatistics::parse(options.normalize);
  const ChannelStatistics statistics = given ? *given : channel_statistics(training);
  const auto count = std::ssize(statistics.mean);
  if (count != 1 && count != shape.channels) {
    throw UsageError("normalise " + training.name(),
                     "normalize = " + options.normalize + " is for " + std::to_string(count) +
                         " channels, but images have " + std::to_string(shape.channels),
                     "give one mean and one deviation a channel, or --normalize data");
  }
  return {statistics, options.crop_padding, options.horizontal_flip};
}

}  // namespace lockstep
