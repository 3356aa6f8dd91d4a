#pragma once

#include <algorithm>
#include <cstdint>

namespace lockstep {

/// a / b rounded up; a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b == 0 ? 0 : 1);
}

/// Consecutive entries [start, start + count).
struct Share {
  std::int64_t start = 0;
  std::int64_t count = 0;
};

/// Part `rank` of `extent` entries cut into `size` contiguous parts, in rank order, that differ by
/// at most one entry, the larger ones on the lower ranks. 0 <= rank < size.
constexpr Share balanced_share(std::int64_t extent, int rank, int size) {
  const std::int64_t least = extent / size;
  const std::int64_t larger = extent % size;
  return {.start = rank * least + std::min<std::int64_t>(rank, larger),
          .count = least + (rank < larger ? 1 : 0)};
}

}  // namespace lockstep
