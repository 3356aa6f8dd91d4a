#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// Samples that tell their id: image values id + i / 100, label id % num_classes. `on_read` is
/// called at the start of each read.
class FakeDataset : public Dataset {
 public:
  explicit FakeDataset(std::int64_t size, std::function<void(std::int64_t)> on_read = {},
                       ImageShape shape = {1, 1, 2})
      : size_(size), on_read_(std::move(on_read)), shape_(shape) {}

  const std::string& name() const override { return name_; }
  std::int64_t size() const override { return size_; }
  ImageShape image_shape() const override { return shape_; }
  std::int64_t num_classes() const override { return 10; }
  std::int64_t label(std::int64_t id) const override { return id % 10; }
  std::int64_t read(std::int64_t id, std::span<float> image) const override {
    if (on_read_) on_read_(id);
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = static_cast<float>(id) + static_cast<float>(i) / 100.0F;
    }
    return label(id);
  }

 private:
  std::string name_ = "fake data";
  std::int64_t size_;
  std::function<void(std::int64_t)> on_read_;
  ImageShape shape_;
};

}  // namespace lockstep
