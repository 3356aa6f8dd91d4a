#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/io/array.hpp"

namespace lockstep {

/// Bytes in memory and where in a file they go.
struct FilePart {
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// What this rank writes of `arrays`, array i of which begins at byte `offsets[i]` of the file: in
/// order of offset, none empty. The replicated arrays, laid end to end, are cut into one balanced
/// share of bytes a rank, so that a rank touches few arrays where there are many ranks. Together
/// the ranks write every byte once. A pure function of its arguments.
std::vector<FilePart> parts_of(const std::vector<ArrayView>& arrays,
                               const std::vector<std::int64_t>& offsets, int rank, int size);

/// The same bytes in the same order, cut into rounds of `round_bytes` each, the last of what
/// remains; none where there are no bytes.
std::vector<std::vector<FilePart>> rounds_of(const std::vector<FilePart>& parts,
                                             std::int64_t round_bytes);

}  // namespace lockstep
