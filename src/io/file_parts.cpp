#include "io/file_parts.hpp"

#include <algorithm>

#include "lockstep/base/shares.hpp"

namespace lockstep {
namespace {

/// Bytes [start, start + count) of an array of which this rank holds those from `first_held` on.
FilePart part_of(const ArrayView& array, std::int64_t offset, const Share& part,
                 std::int64_t first_held) {
  const auto* held = static_cast<const std::byte*>(array.data);
  if (part.count == 0) return {};
  return {.offset = offset + part.start,
          .bytes = {held + (part.start - first_held), static_cast<std::size_t>(part.count)}};
}

/// What `rank` holds of an array that is spread over the ranks along its first dimension.
FilePart own_rows(const ArrayView& array, std::int64_t offset, int rank, int size) {
  const std::int64_t row =
      array.shape[0] == 0 ? 0 : byte_count(array.dtype, array.shape) / array.shape[0];
  const Share rows = balanced_share(array.shape[0], rank, size);
  const Share held{.start = rows.start * row, .count = rows.count * row};
  return part_of(array, offset, held, held.start);
}

/// Where the bytes [start, start + count) and those of `share` meet, counted from `start`.
Share meeting(std::int64_t start, std::int64_t count, const Share& share) {
  const std::int64_t first = std::max(start, share.start);
  const std::int64_t last = std::min(start + count, share.start + share.count);
  return {.start = first - start, .count = std::max<std::int64_t>(0, last - first)};
}

std::int64_t replicated_bytes(const std::vector<ArrayView>& arrays) {
  std::int64_t total = 0;
  for (const ArrayView& array : arrays) {
    if (array.placement == Placement::replicated) total += byte_count(array.dtype, array.shape);
  }
  return total;
}

}  // namespace

std::vector<FilePart> parts_of(const std::vector<ArrayView>& arrays,
                               const std::vector<std::int64_t>& offsets, int rank, int size) {
  const Share share = balanced_share(replicated_bytes(arrays), rank, size);
  std::int64_t passed = 0;  // bytes of replicated arrays
  std::vector<FilePart> parts;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const ArrayView& array = arrays[i];
    const std::int64_t bytes = byte_count(array.dtype, array.shape);
    switch (array.placement) {
      case Placement::replicated:
        parts.push_back(part_of(array, offsets[i], meeting(passed, bytes, share), 0));
        passed += bytes;
        break;
      case Placement::from_root:
        parts.push_back(
            part_of(array, offsets[i], {.start = 0, .count = rank == 0 ? bytes : 0}, 0));
        break;
      case Placement::per_rank:  // rows, one a rank
      case Placement::rows:
        parts.push_back(own_rows(array, offsets[i], rank, size));
        break;
    }
  }
  std::erase_if(parts, [](const FilePart& part) { return part.bytes.empty(); });
  std::sort(parts.begin(), parts.end(),
            [](const FilePart& a, const FilePart& b) { return a.offset < b.offset; });
  return parts;
}

std::vector<std::vector<FilePart>> rounds_of(const std::vector<FilePart>& parts,
                                             std::int64_t round_bytes) {
  std::vector<std::vector<FilePart>> rounds;
  std::size_t room = 0;
  for (FilePart rest : parts) {
    while (!rest.bytes.empty()) {
      if (room == 0) {
        rounds.emplace_back();
        room = static_cast<std::size_t>(round_bytes);
      }
      const std::size_t taken = std::min(room, rest.bytes.size());
      rounds.back().push_back({.offset = rest.offset, .bytes = rest.bytes.first(taken)});
      rest = {.offset = rest.offset + static_cast<std::int64_t>(taken),
              .bytes = rest.bytes.subspan(taken)};
      room -= taken;
    }
  }
  return rounds;
}

}  // namespace lockstep
