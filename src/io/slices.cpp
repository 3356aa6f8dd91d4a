#include "io/slices.hpp"

#include <algorithm>

#include "lockstep/base/shares.hpp"

namespace lockstep {
namespace {

/// Along which dimension, from `first` on, an array is cut: the first that is long enough for
/// `parts`, since parts along an early dimension are contiguous in the file; else the longest.
std::size_t dimension_to_cut(const std::vector<std::int64_t>& shape, std::int64_t parts,
                             std::size_t first) {
  std::size_t longest = first;
  std::int64_t extent = -1;
  for (std::size_t d = first; d < shape.size(); ++d) {
    if (shape[d] >= parts) return d;
    if (shape[d] > extent) {
      longest = d;
      extent = shape[d];
    }
  }
  return longest;
}

}  // namespace

std::vector<Box> pieces_of(const std::vector<std::int64_t>& shape, std::size_t element_bytes,
                           Placement placement, int rank, int size, std::int64_t largest_bytes) {
  const std::int64_t elements = element_count(shape);
  if (elements == 0) return {};
  if (shape.empty()) return {Box{.start = {}, .count = {}, .empty = rank != 0}};

  const bool own_row = placement == Placement::per_rank;
  Box all{.start = std::vector<std::int64_t>(shape.size(), 0), .count = shape, .empty = false};
  if (own_row) {
    all.start[0] = rank;
    all.count[0] = 1;
    if (shape.size() == 1) return {all};
  }

  const std::int64_t bytes = elements * static_cast<std::int64_t>(element_bytes);
  const bool shared = placement == Placement::replicated || placement == Placement::rows;
  const int sharers = shared ? size : 1;
  const std::int64_t held = own_row ? bytes / size : bytes;
  const std::int64_t parts = std::max<std::int64_t>(sharers, ceil_div(held, largest_bytes));
  const std::size_t cut =
      placement == Placement::rows ? 0 : dimension_to_cut(shape, parts, own_row ? 1 : 0);

  const std::int64_t entry_bytes = held / shape[cut];
  const std::int64_t most_entries = std::max<std::int64_t>(1, largest_bytes / entry_bytes);
  // By the largest share, so that every rank counts alike.
  const std::int64_t count = ceil_div(ceil_div(shape[cut], sharers), most_entries);

  const bool takes_part = placement != Placement::from_root || rank == 0;
  const Share share = sharers > 1 ? balanced_share(shape[cut], rank, sharers)
                                  : Share{.start = 0, .count = takes_part ? shape[cut] : 0};
  std::vector<Box> pieces;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = std::min(i * most_entries, share.count);
    const std::int64_t last = std::min(first + most_entries, share.count);
    Box piece = all;
    piece.start[cut] = share.start + first;
    piece.count[cut] = last - first;
    piece.empty = first == last;
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace lockstep
