#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/field.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// Normalisation and augmentation as settings.
struct TransformOptions {
  /// "none", "data" (the training data's own statistics), or ChannelStatistics as text.
  std::string normalize = "none";
  std::int64_t crop_padding = 0;
  bool horizontal_flip = false;
};

FieldTable fields(TransformOptions& options);

/// Mean and standard deviation of each channel, or one of each for all channels.
struct ChannelStatistics {
  std::vector<double> mean;
  std::vector<double> deviation;  ///< above 0

  /// "0.5,0.4,0.3/0.2,0.2,0.1": means, then deviations; reads back to the same values.
  std::string text() const;
  /// Empty where `text` is not of that form.
  static std::optional<ChannelStatistics> parse(std::string_view text);
};

/// Statistics over all pixels of all samples, the deviation being that of the population. That of a
/// channel with one value only is given as 1. The same bits on every rank that holds the same data.
ChannelStatistics channel_statistics(const Dataset& dataset);

/// Where an augmented image is cut from its padded original, and whether it is mirrored then.
struct AugmentationDraw {
  std::int64_t top = 0;   ///< 0 to 2 crop_padding
  std::int64_t left = 0;  ///< 0 to 2 crop_padding
  bool mirrored = false;

  bool operator==(const AugmentationDraw&) const = default;
};

/// What happens to an image between data set and network. An immutable value; any number of threads
/// may use one at once.
class ImageTransform {
 public:
  /// Leaves images as they are.
  ImageTransform() = default;
  /// Normalises by `statistics`, where given, and augments as `crop_padding` and `horizontal_flip`
  /// say.
  ImageTransform(std::optional<ChannelStatistics> statistics, std::int64_t crop_padding,
                 bool horizontal_flip);

  bool augments() const { return crop_padding_ > 0 || horizontal_flip_; }
  bool normalizes() const { return statistics_.has_value(); }

  /// The draw for one sample in one epoch, a pure function of the arguments: the four words w of
  /// Philox4x32-10 at counter {id low, stream, epoch, id high} under key {seed low, seed high} give
  /// top = w[0] (2 crop_padding + 1) / 2^32, left likewise from w[1], and mirrored = the highest
  /// bit of w[2]. Throws Error where `epoch` is negative or needs more than 32 bits.
  AugmentationDraw draw(std::uint64_t seed, std::int64_t epoch, std::int64_t id) const;

  /// `image` (C x H x W values) is padded with crop_padding rows and columns of zeros on each side,
  /// cut back to H x W at (top, left), mirrored left to right where drawn, and normalised:
  /// (value - mean) / deviation. Writes the result to `out`, which must not overlap `image`.
  void apply(const AugmentationDraw& draw, std::span<const float> image, const ImageShape& shape,
             std::span<float> out) const;
  /// Normalises alone, in place.
  void normalize(std::span<float> image, const ImageShape& shape) const;

  /// "none", or the statistics as text: what a file keeps of the normalisation.
  std::string normalization_text() const;
  /// For people, e.g. "normalised by mean 0.5 and deviation 0.2; random crops with padding 4".
  std::string description() const;

 private:
  struct Line {  // normalised = scale * value + shift
    float scale;
    float shift;
  };
  Line line_of(std::size_t channel) const;

  std::optional<ChannelStatistics> statistics_;
  std::int64_t crop_padding_ = 0;
  bool horizontal_flip_ = false;
};

/// The transform that the options ask for on images like those of `training`. Throws UsageError
/// where they do not fit them: other numbers of channels, or padding as large as the image.
ImageTransform make_transform(const TransformOptions& options, const Dataset& training);

/// `dataset`, normalised but never augmented: what a network is validated on. Null stays null.
std::unique_ptr<Dataset> normalized(std::unique_ptr<Dataset> dataset,
                                    const ImageTransform& transform);

}  // namespace lockstep
