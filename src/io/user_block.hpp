#pragma once

#include <cstdint>
#include <filesystem>

namespace lockstep {

/// Bytes in front of a checkpoint's HDF5 content, little-endian:
///   0  8  magic "LOCKSTEP"
///   8  4  version of this layout, 1
///  12  4  bytes of the block, 512
///  16  8  bytes of the whole file
///  24     zeros
/// Written last, so a block that names the file's true size marks the file as complete.
inline constexpr std::int64_t user_block_bytes = 512;

/// Fills in the block of the finished file at `path` and syncs it. Throws Error.
void write_user_block(const std::filesystem::path& path);

/// Throws Error saying what is wrong unless the file at `path` is marked as complete.
void check_user_block(const std::filesystem::path& path);

}  // namespace lockstep
