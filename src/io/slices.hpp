#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lockstep/io/array.hpp"

namespace lockstep {

/// A rectangular part of an array; empty where any count is 0. Of a scalar (no dimensions) either
/// all or nothing.
struct Box {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> count;
  bool empty = false;
};

/// What this rank transfers of an array, in pieces of at most `largest_bytes` (or one entry along
/// the dimension that is cut, where that is more). The number of pieces is the same on every rank,
/// so that each is one collective transfer; a rank with nothing to transfer has empty boxes. A pure
/// function of its arguments; an array without elements has no pieces.
std::vector<Box> pieces_of(const std::vector<std::int64_t>& shape, std::size_t element_bytes,
                           Placement placement, int rank, int size, std::int64_t largest_bytes);

}  // namespace lockstep
