#include "io/user_block.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include <fcntl.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

using Block = std::array<std::byte, user_block_bytes>;

constexpr std::uint64_t layout_version = 2;
// Of all layouts from 2 on, so that damage and a newer layout can be told apart.
constexpr std::size_t checksum_offset = user_block_bytes - sizeof(HashBytes);

// Offsets of the fields.
constexpr std::size_t at_layout = 8;
constexpr std::size_t at_block_bytes = 12;
constexpr std::size_t at_file_bytes = 16;
constexpr std::size_t at_content_end = 24;
constexpr std::size_t at_leaf_bytes = 32;
constexpr std::size_t at_format_version = 40;
constexpr std::size_t at_root = 48;

void put(Block& block, std::size_t offset, std::size_t bytes, std::int64_t value) {
  for (std::size_t i = 0; i < bytes; ++i) {
    block[offset + i] =
        static_cast<std::byte>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
  }
}

std::uint64_t get(const Block& block, std::size_t offset, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(block[offset + i]) << (8 * i);
  }
  return value;
}

HashBytes checksum_of(const Block& block) {
  return hash_of(std::span(block).first(checksum_offset));
}

void check_mark(const Block& block, std::int64_t bytes_read, const std::string& attempted) {
  const bool marked =
      bytes_read >= std::int64_t{user_block_mark.size()} &&
      std::memcmp(block.data(), user_block_mark.data(), user_block_mark.size()) == 0;
  if (!marked) throw Error(attempted, "it does not begin with Lockstep's mark of a finished file");
  if (bytes_read < user_block_bytes) {
    throw Error(attempted, "truncated: " + std::to_string(bytes_read) + " bytes, where the first " +
                               "block alone has " + std::to_string(user_block_bytes));
  }
}

void check_layout(const Block& block, const std::string& attempted) {
  const std::uint64_t layout = get(block, at_layout, 4);
  const HashBytes checksum = checksum_of(block);
  if (!std::equal(checksum.begin(), checksum.end(), block.begin() + checksum_offset)) {
    const bool empty_behind = std::all_of(block.begin() + at_content_end, block.end(),
                                          [](std::byte byte) { return byte == std::byte{0}; });
    if (layout == 1 && empty_behind) {
      throw Error(attempted,
                  "it was written before files carried hashes, so nobody can tell whether it is "
                  "damaged",
                  "the Lockstep that wrote it");
    }
    throw Error(attempted, "damaged: its first block of " + std::to_string(user_block_bytes) +
                               " bytes differs from its checksum");
  }
  if (layout != layout_version) {
    throw Error(attempted,
                "its first block has layout " + std::to_string(layout) +
                    ", this program reads layout " + std::to_string(layout_version),
                "use the Lockstep that wrote it");
  }
}

}  // namespace

std::array<std::byte, user_block_bytes> encoded(const UserBlock& values) {
  Block block{};
  std::memcpy(block.data(), user_block_mark.data(), user_block_mark.size());
  put(block, at_layout, 4, layout_version);
  put(block, at_block_bytes, 4, user_block_bytes);
  put(block, at_file_bytes, 8, values.file_bytes());
  put(block, at_content_end, 8, values.content_end);
  put(block, at_leaf_bytes, 8, HashedRange::block_bytes);
  put(block, at_format_version, 8, values.format_version);
  std::copy(values.root.begin(), values.root.end(), block.begin() + at_root);
  const HashBytes checksum = checksum_of(block);
  std::copy(checksum.begin(), checksum.end(), block.begin() + checksum_offset);
  return block;
}

UserBlock read_user_block(const std::filesystem::path& path) {
  const std::string attempted = "open '" + path.string() + "'";
  const FileDescriptor file = open_file(path, O_RDONLY, "open");
  Block block{};
  const std::int64_t bytes_read = read_at(file, path, 0, block);
  check_mark(block, bytes_read, attempted);
  check_layout(block, attempted);

  UserBlock values;
  values.content_end = static_cast<std::int64_t>(get(block, at_content_end, 8));
  values.format_version = static_cast<std::int64_t>(get(block, at_format_version, 8));
  std::copy_n(block.begin() + at_root, values.root.size(), values.root.begin());
  const auto expected = static_cast<std::int64_t>(get(block, at_file_bytes, 8));
  const bool consistent = values.content_end >= user_block_bytes &&
                          values.content_end <= expected && values.file_bytes() == expected &&
                          get(block, at_leaf_bytes, 8) == std::uint64_t{HashedRange::block_bytes};
  if (!consistent) throw Error(attempted, "the numbers in its first block contradict each other");
  const std::int64_t found = file_bytes(file, path);
  if (found < expected) {
    throw Error(attempted, "truncated: " + std::to_string(found) + " of " +
                               std::to_string(expected) + " bytes");
  }
  if (found > expected) {
    throw Error(attempted, "damaged: it has " + std::to_string(found) +
                               " bytes where it was written with " + std::to_string(expected));
  }
  return values;
}

}  // namespace lockstep
