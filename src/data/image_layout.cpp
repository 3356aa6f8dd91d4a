#include "data/image_layout.hpp"

namespace lockstep {

std::optional<ImageLayout> image_layout_of(const std::vector<std::int64_t>& extents,
                                           const std::optional<std::string>& name,
                                           const ImageShape& expected) {
  if (extents.size() == 3) {
    if (name && *name != "NHW") return std::nullopt;
    return ImageLayout{extents[0], {1, extents[1], extents[2]}, false};
  }
  if (extents.size() != 4) return std::nullopt;
  const ImageLayout first{extents[0], {extents[1], extents[2], extents[3]}, false};
  const ImageLayout last{extents[0], {extents[3], extents[1], extents[2]}, true};
  if (name == "NCHW") return first;
  if (name == "NHWC") return last;
  if (name) return std::nullopt;
  return first.shape != expected && last.shape == expected ? last : first;
}

}  // namespace lockstep
