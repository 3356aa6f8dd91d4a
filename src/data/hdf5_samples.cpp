#include "data/hdf5_samples.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

#include "data/image_layout.hpp"
#include "data/memory_dataset.hpp"

namespace lockstep {
namespace {

template <typename T>
std::vector<T> read_all(const Hdf5File& file, const std::string& dataset, DType dtype,
                        std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  file.read(dataset, dtype, std::as_writable_bytes(std::span(values)));
  return values;
}

class SampleReader {
 public:
  SampleReader(const Hdf5File& file, const std::string& group, const Hdf5Options& options)
      : file_(file),
        group_(group),
        options_(options),
        images_(group + "/" + options.image_key),
        labels_(group + "/" + options.label_key) {}

  std::unique_ptr<Dataset> read() const {
    require(images_);
    require(labels_);
    const ImageLayout layout = image_layout();
    std::vector<std::int64_t> labels = read_labels(layout.samples);
    MemoryDataset::Pixels pixels = read_pixels(layout);
    return std::make_unique<MemoryDataset>(
        file_.path().string() + ":" + (group_.empty() ? "/" : group_), layout.shape,
        options_.num_classes, std::move(pixels), scale(), std::move(labels));
  }

 private:
  [[noreturn]] void refuse(const std::string& dataset, std::string reason,
                           std::string remedy = {}) const {
    throw UsageError("read " + dataset + " in " + file_.path().string(), std::move(reason),
                     std::move(remedy));
  }

  void require(const std::string& dataset) const {
    if (file_.contains(dataset)) return;
    refuse(dataset, unknown_name_text("data set", dataset, file_.datasets()),
           "name it by --image_key and --label_key");
  }

  ImageLayout image_layout() const {
    std::optional<std::string> name;
    if (const auto attribute = file_.attribute(images_, "layout")) {
      const auto* text = std::get_if<std::string>(&*attribute);
      if (text == nullptr) refuse(images_, "its attribute layout is a number, not a text");
      name = *text;
    }
    const std::vector<std::int64_t> extents = file_.shape(images_);
    const ImageShape expected{options_.in_channels, options_.image_size, options_.image_size};
    const std::optional<ImageLayout> layout = image_layout_of(extents, name, expected);
    if (!layout) {
      refuse(images_,
             "the shape " + text_of(extents) + (name ? " with layout '" + *name + "'" : "") +
                 " is no set of images; expected N,C,H,W or N,H,W,C or N,H,W, and the attribute "
                 "layout, where there is one, to be NCHW, NHWC or NHW");
    }
    if (layout->samples == 0) refuse(images_, "it holds no samples");
    if (layout->shape != expected) {
      refuse(images_,
             "images are " + text_of(layout->shape) + " (the shape is " + text_of(extents) +
                 "), expected " + text_of(expected),
             "set in_channels and image_size to what the data is");
    }
    return *layout;
  }

  MemoryDataset::Pixels read_pixels(const ImageLayout& layout) const {
    const std::optional<DType> dtype = file_.dtype(images_);
    const std::int64_t count = layout.samples * layout.shape.size();
    if (dtype == DType::uint8) {
      auto bytes = read_all<std::uint8_t>(file_, images_, DType::uint8, count);
      if (layout.channels_last) move_channels_first(std::span(bytes), layout.shape);
      return bytes;
    }
    if (dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64) {
      auto floats = read_all<float>(file_, images_, DType::float32, count);
      if (layout.channels_last) move_channels_first(std::span(floats), layout.shape);
      return floats;
    }
    refuse(images_, "images are " + text_of(dtype) + ", expected uint8 or floating-point values");
  }

  double scale() const {
    const auto attribute = file_.attribute(images_, "scale");
    if (!attribute) return 1.0 / 255.0;
    if (const auto* number = std::get_if<double>(&*attribute)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&*attribute)) {
      return static_cast<double>(*number);
    }
    refuse(images_, "its attribute scale is a text, not a number");
  }

  std::vector<std::int64_t> read_labels(std::int64_t samples) const {
    const std::vector<std::int64_t> extents = file_.shape(labels_);
    if (extents != std::vector{samples}) {
      refuse(labels_, "the shape is " + text_of(extents) + ", expected [" +
                          std::to_string(samples) + "], one label for each image in " + images_);
    }
    const std::optional<DType> dtype = file_.dtype(labels_);
    if (dtype && dtype != DType::uint8 && dtype != DType::int32 && dtype != DType::int64) {
      refuse(labels_, "labels are " + text_of(dtype) + ", expected integers");
    }
    // Integer types that have no DType, such as 16-bit ones, are converted too; texts are not.
    std::vector<std::int64_t> labels =
        read_all<std::int64_t>(file_, labels_, DType::int64, samples);
    const auto wrong = std::find_if(labels.begin(), labels.end(), [this](std::int64_t label) {
      return label < 0 || label >= options_.num_classes;
    });
    if (wrong != labels.end()) {
      refuse(labels_,
             "the label of sample " + std::to_string(wrong - labels.begin()) + " is " +
                 std::to_string(*wrong) + ", expected 0 to " +
                 std::to_string(options_.num_classes - 1),
             "set num_classes to the number of classes; labels count from 0");
    }
    return labels;
  }

  static std::string text_of(std::optional<DType> dtype) {
    return dtype ? std::string(name_of(*dtype)) : "of another type";
  }
  static std::string text_of(const ImageShape& shape) {
    return std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " +
           std::to_string(shape.width) + " (channels x height x width)";
  }
  static std::string text_of(const std::vector<std::int64_t>& extents) {
    std::vector<std::string> parts;
    for (const std::int64_t extent : extents) parts.push_back(std::to_string(extent));
    return "[" + joined(parts, ", ") + "]";
  }

  const Hdf5File& file_;
  const std::string& group_;
  const Hdf5Options& options_;
  std::string images_;
  std::string labels_;
};

}  // namespace

std::unique_ptr<Dataset> read_hdf5_samples(const Hdf5File& file, const std::string& group,
                                           const Hdf5Options& options) {
  return SampleReader(file, group, options).read();
}

}  // namespace lockstep
