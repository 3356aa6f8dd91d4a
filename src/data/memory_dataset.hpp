#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// Samples held in memory, image after image in C x H x W order: as floats, or as bytes that are
/// multiplied by `scale` when they are read.
class MemoryDataset : public Dataset {
 public:
  using Pixels = std::variant<std::vector<std::uint8_t>, std::vector<float>>;

  MemoryDataset(std::string name, const ImageShape& shape, std::int64_t num_classes, Pixels pixels,
                double scale, std::vector<std::int64_t> labels)
      : name_(std::move(name)),
        shape_(shape),
        num_classes_(num_classes),
        pixels_(std::move(pixels)),
        scale_(scale),
        labels_(std::move(labels)) {}

  const std::string& name() const override { return name_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(labels_.size()); }
  ImageShape image_shape() const override { return shape_; }
  std::int64_t num_classes() const override { return num_classes_; }
  std::int64_t label(std::int64_t id) const override;
  std::int64_t read(std::int64_t id, std::span<float> image) const override;

 private:
  std::string name_;
  ImageShape shape_;
  std::int64_t num_classes_;
  Pixels pixels_;
  double scale_;
  std::vector<std::int64_t> labels_;
};

}  // namespace lockstep
