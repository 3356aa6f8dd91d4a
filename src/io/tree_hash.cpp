#include "io/tree_hash.hpp"

#include <algorithm>
#include <vector>

#include "lockstep/base/content_hash.hpp"
#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

// Small enough to be hashed from the processor's cache into which it was just copied.
constexpr std::int64_t piece_bytes = std::int64_t{256} << 10;

HashBytes bytes_of(const ContentHash& hash) {
  const auto [high, low] = hash.halves();
  HashBytes bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::byte>((low >> (8 * i)) & 0xff);
    bytes[8 + i] = static_cast<std::byte>((high >> (8 * i)) & 0xff);
  }
  return bytes;
}

HashBytes hash_of_range(const FileDescriptor& file, const std::filesystem::path& path,
                        const HashedRange& range, std::vector<std::byte>& piece) {
  ContentHash hash;
  for (std::int64_t at = range.start; at < range.end;) {
    const std::int64_t wanted = std::min(piece_bytes, range.end - at);
    const std::span<std::byte> bytes(piece.data(), static_cast<std::size_t>(wanted));
    if (const std::int64_t got = read_at(file, path, at, bytes); got < wanted) {
      throw Error("read '" + path.string() + "'", "it ends at byte " + std::to_string(at + got) +
                                                      ", " + std::to_string(range.end) +
                                                      " were expected");
    }
    hash.add(bytes);
    at += wanted;
  }
  return bytes_of(hash);
}

}  // namespace

HashBytes hash_of(std::span<const std::byte> bytes) {
  ContentHash hash;
  hash.add(bytes);
  return bytes_of(hash);
}

HashedRange HashedRange::block(std::int64_t index) const {
  const std::int64_t first = start + index * block_bytes;
  return {.start = first, .end = std::min(first + block_bytes, end)};
}

std::string block_hashes(const FileDescriptor& file, const std::filesystem::path& path,
                         const HashedRange& range, const Share& share) {
  std::vector<std::byte> piece(static_cast<std::size_t>(piece_bytes));
  std::string hashes;
  for (std::int64_t i = share.start; i < share.start + share.count; ++i) {
    const HashBytes hash = hash_of_range(file, path, range.block(i), piece);
    hashes.append(reinterpret_cast<const char*>(hash.data()), hash.size());
  }
  return hashes;
}

}  // namespace lockstep
