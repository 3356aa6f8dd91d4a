#include "lockstep/io/array.hpp"

#include <functional>
#include <numeric>

namespace lockstep {

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t byte_count(DType dtype, const std::vector<std::int64_t>& shape) {
  return element_count(shape) * static_cast<std::int64_t>(size_of(dtype));
}

bool fits(const ArrayInfo& info, const ArrayTarget& target) {
  return info.dtype == target.dtype && info.shape == target.shape;
}

std::string description_of(DType dtype, const std::vector<std::int64_t>& shape) {
  std::string text = std::string(name_of(dtype)) + " [";
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(shape[d]);
  }
  return text + "]";
}

}  // namespace lockstep
