#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "io/tree_hash.hpp"

namespace lockstep {

/// Room in front of the HDF5 content, which HDF5 tools skip. What it holds, and where, is
/// documented in postproc/README.md.
inline constexpr std::int64_t user_block_bytes = 512;

/// What it begins with.
inline constexpr std::string_view user_block_mark = "LOCKSTEP";

/// What is written last and so tells that a file is complete, and lets damage be found before the
/// HDF5 library, which a flipped bit can crash, opens the file.
struct UserBlock {
  std::int64_t format_version = 0;  ///< that of the root attribute
  std::int64_t content_end = 0;     ///< where the HDF5 content ends and the list of hashes begins
  HashBytes root{};                 ///< of the list of hashes

  /// What follows the block, up to the list.
  HashedRange content() const { return {.start = user_block_bytes, .end = content_end}; }
  std::int64_t file_bytes() const { return content_end + content().list_bytes(); }
};

std::array<std::byte, user_block_bytes> encoded(const UserBlock& block);

/// The block of the file at `path`. Throws Error where there is none, where it is damaged or of
/// another layout, and where the file has another length than it says. Not collective.
UserBlock read_user_block(const std::filesystem::path& path);

}  // namespace lockstep
