#include "lockstep/data/synthetic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/base/philox.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t image_stream = 0x696D6701;  // keeps the draws apart from other uses
constexpr std::uint32_t label_stream = 0x6C626C01;

constexpr std::size_t quantiles = 1 << 16;

/// quantile(k) = the standard normal quantile of (k + 1/2) / quantiles, by Newton's method from one
/// to the next. A constant, made on first use in a few milliseconds.
const std::vector<float>& normal_quantiles() {
  static const std::vector<float> table = [] {
    std::vector<float> values(quantiles);
    double x = 0.0;
    for (std::size_t k = quantiles / 2; k < quantiles; ++k) {
      const double above = (static_cast<double>(quantiles - k) - 0.5) / quantiles;
      // The tail is convex, so steps from below never overshoot.
      for (double step = 1.0; step > 1e-12;) {
        const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
        step = (0.5 * std::erfc(x / std::numbers::sqrt2) - above) / density;
        x += step;
      }
      values[k] = static_cast<float>(x);
      values[quantiles - 1 - k] = static_cast<float>(-x);
    }
    return values;
  }();
  return table;
}

class SyntheticDataset : public Dataset {
 public:
  SyntheticDataset(const ImageShape& shape, std::int64_t num_classes, std::int64_t size,
                   std::uint64_t seed, std::int64_t first_id)
      : shape_(shape), num_classes_(num_classes), size_(size), seed_(seed), first_id_(first_id) {}

  const std::string& name() const override { return name_; }
  std::int64_t size() const override { return size_; }
  ImageShape image_shape() const override { return shape_; }
  std::int64_t num_classes() const override { return num_classes_; }

  std::int64_t label(std::int64_t id) const override {
    check_id(id);
    PhiloxStream draws(seed_, number_of(id), label_stream);
    const std::uint64_t upper = draws.next_uint32();
    const std::uint64_t word = (upper << 32U) | draws.next_uint32();
    return static_cast<std::int64_t>(word % static_cast<std::uint64_t>(num_classes_));
  }

  std::int64_t read(std::int64_t id, std::span<float> image) const override {
    check_id(id);
    check(std::cmp_equal(image.size(), shape_.size()), "read a synthetic image",
          "the memory for it has another size");
    const std::vector<float>& table = normal_quantiles();
    const std::uint64_t number = number_of(id);
    const auto low = static_cast<std::uint32_t>(number);
    const auto high = static_cast<std::uint32_t>(number >> 32U);
    const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(seed_),
                                           static_cast<std::uint32_t>(seed_ >> 32U)};
    std::array<float, 8> values{};  // of one block: two a word, the lower half first
    for (std::size_t at = 0; at < image.size(); at += values.size()) {
      const auto block = static_cast<std::uint32_t>(at / values.size());
      const auto words = philox4x32({block, image_stream, low, high}, key);
      for (std::size_t i = 0; i < words.size(); ++i) {
        values[2 * i] = table[words[i] & 0xFFFFU];
        values[2 * i + 1] = table[words[i] >> 16U];
      }
      std::copy_n(values.begin(), std::min(values.size(), image.size() - at),
                  image.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return label(id);
  }

 private:
  std::uint64_t number_of(std::int64_t id) const {
    return static_cast<std::uint64_t>(first_id_ + id);
  }
  void check_id(std::int64_t id) const {
    if (id < 0 || id >= size_) {
      throw Error("read synthetic data",
                  "there is no sample " + std::to_string(id) + " among " + std::to_string(size_));
    }
  }

  std::string name_ = "synthetic";
  ImageShape shape_;
  std::int64_t num_classes_;
  std::int64_t size_;
  std::uint64_t seed_;
  std::int64_t first_id_;
};

}  // namespace

std::unique_ptr<Dataset> make_synthetic(const ImageShape& shape, std::int64_t num_classes,
                                        std::int64_t size, std::uint64_t seed,
                                        std::int64_t first_id) {
  return std::make_unique<SyntheticDataset>(shape, num_classes, size, seed, first_id);
}

FieldTable SyntheticBuilder::fields() {
  FieldTable table{
      field("synthetic_size", options_.synthetic_size, "synthetic training samples",
            between(1, 1e9)),
      field("synthetic_val_size", options_.synthetic_val_size, "synthetic validation samples",
            between(0, 1e9)),
  };
  for (Field& image : lockstep::fields(options_.image)) table.push_back(std::move(image));
  return table;
}

Splits SyntheticBuilder::build(IoThread& /*io*/, Communicator& /*comm*/, std::uint64_t seed) const {
  const std::int64_t size = options_.image.image_size.value_or(32);
  const ImageShape shape{options_.image.in_channels.value_or(3), size, size};
  const std::int64_t num_classes = options_.image.num_classes.value_or(10);
  Splits splits;
  splits.training = make_synthetic(shape, num_classes, options_.synthetic_size, seed, 0);
  if (options_.synthetic_val_size > 0) {
    splits.validation = make_synthetic(shape, num_classes, options_.synthetic_val_size, seed,
                                       options_.synthetic_size);
  }
  splits.fingerprint = fingerprint(*splits.training);
  return splits;
}

}  // namespace lockstep
