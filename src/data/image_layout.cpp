#include "data/image_layout.hpp"

#include <iterator>

namespace lockstep {
namespace {

constexpr std::int64_t most_usual_channels = 4;  // grey, colour, colour with transparency

template <typename Predicate>
void prefer(std::vector<ImageLayout>& layouts, Predicate&& wanted) {
  std::vector<ImageLayout> kept;
  std::copy_if(layouts.begin(), layouts.end(), std::back_inserter(kept), wanted);
  if (!kept.empty()) layouts = std::move(kept);
}

}  // namespace

std::vector<ImageLayout> likely_layouts(const std::vector<std::int64_t>& extents,
                                        const std::string& name, const ImageOptions& expected) {
  const bool any = name == "auto";
  std::vector<ImageLayout> layouts;
  if (extents.size() == 3 && (any || name == "NHW")) {
    layouts.push_back({extents[0], {1, extents[1], extents[2]}, false});
  }
  if (extents.size() == 4 && (any || name == "NCHW")) {
    layouts.push_back({extents[0], {extents[1], extents[2], extents[3]}, false});
  }
  if (extents.size() == 4 && (any || name == "NHWC")) {
    layouts.push_back({extents[0], {extents[3], extents[1], extents[2]}, true});
  }
  prefer(layouts, [&](const ImageLayout& layout) { return expected.fits(layout.shape); });
  prefer(layouts,
         [](const ImageLayout& layout) { return layout.shape.channels <= most_usual_channels; });
  prefer(layouts,
         [](const ImageLayout& layout) { return layout.shape.height == layout.shape.width; });
  return layouts;
}

}  // namespace lockstep
