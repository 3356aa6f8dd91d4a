#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "lockstep/base/error.hpp"

#include "data/hdf5_parts.hpp"
#include "data/hdf5_search.hpp"

namespace lockstep {
namespace {

class ImageReader {
 public:
  ImageReader(const Hdf5File& file, const std::string& dataset, const SampleExpectation& expected)
      : file_(file),
        dataset_(dataset),
        expected_(expected),
        extents_(file.shape(dataset)),
        type_(file.element_type(dataset)) {}

  Hdf5Images read() const {
    Hdf5Images images{.layout = layout(), .pixels = {}, .scale = 1.0};
    const std::optional<double> scale = scale_attribute();
    if (type_.kind == ElementType::Kind::integer && type_.bits == 8 && !type_.is_signed) {
      images.scale = scale.value_or(1.0 / 255.0);
      images.pixels = pixels<std::uint8_t>(DType::uint8, images.layout);
      return images;
    }
    if (!type_.is_number()) {
      refuse("images are " + type_.name + ", expected integers or floating-point values");
    }
    std::vector<float> values = pixels<float>(DType::float32, images.layout);
    const double factor = scale ? *scale : usual_scale();
    if (factor != 1.0) {
      for (float& value : values) value = static_cast<float>(value * factor);
    }
    require_finite(values, images.layout);
    images.pixels = std::move(values);
    return images;
  }

 private:
  [[noreturn]] void refuse(std::string reason, std::string remedy = {}) const {
    refuse_dataset(file_, dataset_, std::move(reason), std::move(remedy));
  }

  template <typename T>
  std::vector<T> pixels(DType dtype, const ImageLayout& layout) const {
    std::vector<T> values(static_cast<std::size_t>(layout.samples * layout.shape.size()));
    file_.read(dataset_, dtype, std::as_writable_bytes(std::span(values)));
    if (layout.channels_last) move_channels_first(std::span(values), layout.shape);
    return values;
  }

  std::string layout_name() const {
    const auto attribute = file_.attribute(dataset_, "layout");
    if (!attribute) return expected_.layout;
    const auto* text = std::get_if<std::string>(&*attribute);
    if (text == nullptr) refuse("its attribute layout is a number, not a text");
    if (expected_.layout != "auto" && expected_.layout != *text) {
      refuse("its attribute layout says '" + *text + "', but image_layout = " + expected_.layout,
             "leave image_layout out");
    }
    return *text;
  }

  ImageLayout layout() const {
    const std::string name = layout_name();
    const std::vector<ImageLayout> likely = likely_layouts(extents_, name, expected_.image);
    if (likely.empty()) {
      refuse("the shape " + text_of(extents_) +
             (name == "auto" ? "" : " with layout '" + name + "'") +
             " is no set of images; expected N,C,H,W or N,H,W,C or N,H,W, and the layout, where it "
             "is told, to be NCHW, NHWC or NHW");
    }
    if (likely.size() > 1) {
      refuse("the shape " + text_of(extents_) + " may mean N,C,H,W or N,H,W,C",
             "--image_layout NCHW or NHWC");
    }
    const ImageLayout& layout = likely.front();
    if (layout.samples == 0) refuse("it holds no samples");
    if (layout.shape.size() == 0) refuse("the shape " + text_of(extents_) + " leaves no pixels");
    if (!expected_.image.fits(layout.shape)) {
      refuse("images are " + text_of(layout.shape) + " (the shape is " + text_of(extents_) +
                 "), but " + expected_.shape_text,
             expected_.shape_remedy);
    }
    return layout;
  }

  /// Integers that fill their type's range become fractions of it.
  double usual_scale() const {
    if (type_.kind == ElementType::Kind::floating_point) return 1.0;
    if (type_.bits > 16) {
      refuse("images are " + type_.name + ", whose range says nothing about them",
             "set the attribute scale of the data set to what pixels are to be multiplied by");
    }
    return 1.0 / (std::exp2(static_cast<double>(type_.bits - (type_.is_signed ? 1 : 0))) - 1.0);
  }

  std::optional<double> scale_attribute() const {
    const auto attribute = file_.attribute(dataset_, "scale");
    if (!attribute) return std::nullopt;
    if (const auto* number = std::get_if<double>(&*attribute)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&*attribute)) {
      return static_cast<double>(*number);
    }
    refuse("its attribute scale is a text, not a number");
  }

  void require_finite(const std::vector<float>& values, const ImageLayout& layout) const {
    const auto is_bad = [](float value) { return !std::isfinite(value); };
    const auto size = layout.shape.size();
    std::int64_t first = -1;
    std::int64_t count = 0;
    for (std::int64_t id = 0; id < layout.samples; ++id) {
      const auto begin = values.begin() + id * size;
      if (std::none_of(begin, begin + size, is_bad)) continue;
      if (count++ == 0) first = id;
    }
    if (count == 0) return;
    refuse(std::to_string(count) + " of " + std::to_string(layout.samples) +
               " images hold values that are NaN or infinite; the first is sample " +
               std::to_string(first),
           "repair or leave out these samples");
  }

  const Hdf5File& file_;
  const std::string& dataset_;
  const SampleExpectation& expected_;
  const std::vector<std::int64_t> extents_;
  const ElementType type_;
};

}  // namespace

Hdf5Images read_hdf5_images(const Hdf5File& file, const std::string& dataset,
                            const SampleExpectation& expected) {
  return ImageReader(file, dataset, expected).read();
}

}  // namespace lockstep
