#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

/// How an array holds labels: one number a sample, or a row of `columns` with a single 1.
struct LabelLayout {
  std::int64_t samples = 0;
  bool one_hot = false;
  std::int64_t columns = 1;
};

/// The layout of an array of these extents; extents of 1 behind the first do not count, so N,1,1,1
/// is N. Empty where it can hold no labels.
inline std::optional<LabelLayout> label_layout_of(const std::vector<std::int64_t>& extents) {
  if (extents.empty()) return std::nullopt;
  LabelLayout layout{.samples = extents[0]};
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    if (layout.one_hot) return std::nullopt;
    layout.one_hot = true;
    layout.columns = extents[i];
  }
  return layout;
}

}  // namespace lockstep
