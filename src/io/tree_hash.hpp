#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "lockstep/base/shares.hpp"

#include "io/posix_file.hpp"

namespace lockstep {

/// XXH3 (128 bits) as a little-endian number.
using HashBytes = std::array<std::byte, 16>;

HashBytes hash_of(std::span<const std::byte> bytes);

/// The bytes [start, end) of a file, which are hashed in blocks; the last may be short. Together
/// the blocks' hashes are a list, whose own hash stands for the whole range: a tree of two levels,
/// whose leaves ranks can compute and compare each for itself.
struct HashedRange {
  static constexpr std::int64_t block_bytes = std::int64_t{4} << 20;

  std::int64_t start = 0;
  std::int64_t end = 0;

  std::int64_t blocks() const { return ceil_div(end - start, block_bytes); }
  std::int64_t list_bytes() const { return blocks() * std::int64_t{sizeof(HashBytes)}; }
  /// The bytes of a block.
  HashedRange block(std::int64_t index) const;
};

/// The hashes of the blocks of `share`, one behind the other. Throws Error where the file cannot be
/// read or ends within them. Reads once, in order, and holds no more than a fraction of a block.
std::string block_hashes(const FileDescriptor& file, const std::filesystem::path& path,
                         const HashedRange& range, const Share& share);

}  // namespace lockstep
