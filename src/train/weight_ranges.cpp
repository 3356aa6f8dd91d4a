#include "lockstep/train/weight_ranges.hpp"

namespace lockstep {

std::vector<ElementRange> weight_ranges(const FlatLayout& layout) {
  std::vector<ElementRange> ranges;
  bool joins = false;  // whether the entry before was a weight
  for (const FlatEntry& entry : layout.entries()) {
    const bool is_weight = entry.sizes.size() >= 2;
    const std::int64_t end = entry.offset + entry.count;
    if (is_weight && joins) {
      ranges.back().end = end;  // the padding between them holds zeros, which decay to zeros
    } else if (is_weight) {
      ranges.push_back({entry.offset, end});
    }
    joins = is_weight;
  }
  return ranges;
}

}  // namespace lockstep
