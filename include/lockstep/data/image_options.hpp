#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/base/field.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// What the user says the data is. Every kind of data set has these settings; one that is unset
/// follows the data, one that is set and not true of the data is refused.
struct ImageOptions {
  std::optional<std::int64_t> in_channels{};
  std::optional<std::int64_t> image_size{};  ///< height and width in pixels
  std::optional<std::int64_t> num_classes{};

  /// Whether images of that shape are what is set.
  bool fits(const ImageShape& shape) const;
  /// What is set of the shape, e.g. "in_channels = 3 and image_size = 32".
  std::string shape_text() const;
};

FieldTable fields(ImageOptions& options);

/// Throws UsageError, with both values, where `shape` or `num_classes`, those of the data named
/// `name`, are not what is set.
void require_fit(const ImageOptions& options, const std::string& name, const ImageShape& shape,
                 std::int64_t num_classes);

/// "3 x 32 x 32 (channels x height x width)".
std::string text_of(const ImageShape& shape);

}  // namespace lockstep
