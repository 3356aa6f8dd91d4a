#include "lockstep/data/image_options.hpp"

#include "lockstep/base/error.hpp"

namespace lockstep {

bool ImageOptions::fits(const ImageShape& shape) const {
  return in_channels.value_or(shape.channels) == shape.channels &&
         image_size.value_or(shape.height) == shape.height &&
         image_size.value_or(shape.width) == shape.width;
}

std::string ImageOptions::shape_text() const {
  std::string text;
  if (in_channels) text = "in_channels = " + std::to_string(*in_channels);
  if (in_channels && image_size) text += " and ";
  if (image_size) text += "image_size = " + std::to_string(*image_size);
  return text;
}

FieldTable fields(ImageOptions& options) {
  return {
      field("num_classes", options.num_classes,
            "classes to tell apart; auto: as the data has (synthetic: 10)", at_least(1)),
      field("in_channels", options.in_channels,
            "channels of an image; auto: as the data has (synthetic: 3)", at_least(1)),
      field("image_size", options.image_size,
            "height and width of an image; auto: as the data has (synthetic: 32)", at_least(1)),
  };
}

void require_fit(const ImageOptions& options, const std::string& name, const ImageShape& shape,
                 std::int64_t num_classes) {
  if (!options.fits(shape)) {
    throw UsageError("read " + name,
                     "images are " + text_of(shape) + ", but " + options.shape_text(),
                     "leave in_channels and image_size out, and they follow the data");
  }
  if (options.num_classes.value_or(num_classes) != num_classes) {
    throw UsageError("read " + name,
                     "it has " + std::to_string(num_classes) +
                         " classes, but num_classes = " + std::to_string(*options.num_classes),
                     "leave num_classes out, and it follows the data");
  }
}

std::string text_of(const ImageShape& shape) {
  return std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " +
         std::to_string(shape.width) + " (channels x height x width)";
}

}  // namespace lockstep
