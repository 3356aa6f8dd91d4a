#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "lockstep/base/text.hpp"
#include "lockstep/data/image_transform.hpp"

namespace lockstep {
namespace {

/// The sum of function(value) in double. Several partial sums, so that it can be vectorised and
/// rounds less than one long chain of additions.
template <typename F>
double sum_of(std::span<const float> values, F&& function) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += function(values[i + lane]);
  }
  for (; i < values.size(); ++i) sums[i % lanes] += function(values[i]);
  double sum = 0.0;
  for (const double part : sums) sum += part;
  return sum;
}

/// Mean and sum of squared deviations so far, extended by one plane of pixels at a time.
/// Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing
/// sample variances", 1979.
struct Moments {
  double count = 0.0;
  double mean = 0.0;
  double squares = 0.0;

  void add(std::span<const float> plane) {
    const auto size = static_cast<double>(plane.size());
    const double plane_mean = sum_of(plane, [](float value) { return double{value}; }) / size;
    const double plane_squares = sum_of(plane, [plane_mean](float value) {
      const double excess = double{value} - plane_mean;
      return excess * excess;
    });
    const double step = plane_mean - mean;
    const double total = count + size;
    squares += plane_squares + step * step * count * size / total;
    mean += step * size / total;
    count = total;
  }
};

std::optional<std::vector<double>> numbers(std::string_view text) {
  std::vector<double> values;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = trimmed(text.substr(0, comma));
    double value = 0.0;
    const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (status != std::errc() || end != part.data() + part.size() || !std::isfinite(value)) {
      return std::nullopt;
    }
    values.push_back(value);
    if (comma == text.size()) return values;
    text.remove_prefix(comma + 1);
  }
}

std::string text_of(const std::vector<double>& values) {
  std::vector<std::string> parts;
  for (const double value : values) parts.push_back(shortest_text(value));
  return joined(parts, ",");
}

}  // namespace

std::string ChannelStatistics::text() const {
  return text_of(mean) + "/" + text_of(deviation);
}

std::optional<ChannelStatistics> ChannelStatistics::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto mean = numbers(text.substr(0, slash));
  const auto deviation = numbers(text.substr(slash + 1));
  if (!mean || !deviation || mean->size() != deviation->size()) return std::nullopt;
  const bool positive =
      std::all_of(deviation->begin(), deviation->end(), [](double value) { return value > 0.0; });
  if (!positive) return std::nullopt;
  return ChannelStatistics{*mean, *deviation};
}

ChannelStatistics channel_statistics(const Dataset& dataset) {
  const ImageShape shape = dataset.image_shape();
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  std::vector<Moments> moments(static_cast<std::size_t>(shape.channels));
  std::vector<float> image(static_cast<std::size_t>(shape.size()));
  for (std::int64_t id = 0; id < dataset.size(); ++id) {
    dataset.read(id, image);
    for (std::size_t channel = 0; channel < moments.size(); ++channel) {
      moments[channel].add(std::span(image).subspan(channel * plane, plane));
    }
  }
  ChannelStatistics statistics;
  for (const Moments& channel : moments) {
    statistics.mean.push_back(channel.mean);
    const double deviation = std::sqrt(channel.squares / channel.count);
    statistics.deviation.push_back(deviation > 0.0 ? deviation : 1.0);
  }
  return statistics;
}

FieldTable fields(TransformOptions& options) {
  return {
      Field(
          "normalize",
          "what pixels are shifted and divided by: none; data: each channel's mean and standard "
          "deviation over the training data; or these themselves, e.g. 0.5,0.5,0.4/0.2,0.2,0.3",
          "none | data | MEANS/DEVIATIONS", false,
          [&options](std::string_view text) -> std::optional<std::string> {
            text = trimmed(text);
            if (text != "none" && text != "data" && !ChannelStatistics::parse(text)) {
              return "'" + std::string(text) +
                     "' is neither none nor data nor as many means as deviations above 0, as in "
                     "0.5,0.5,0.4/0.2,0.2,0.3";
            }
            options.normalize = std::string(text);
            return std::nullopt;
          },
          [&options] { return options.normalize; }),
      field("crop_padding", options.crop_padding,
            "training images are padded by so many zeros on each side and cut back at random",
            between(0, 1024)),
      field("horizontal_flip", options.horizontal_flip,
            "mirror every other training image left to right, at random"),
  };
}

}  // namespace lockstep
