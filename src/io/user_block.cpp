#include "io/user_block.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"

#include "io/posix_file.hpp"

namespace lockstep {
namespace {

using Block = std::array<std::byte, user_block_bytes>;

constexpr std::string_view magic = "LOCKSTEP";
constexpr std::uint64_t layout_version = 1;

void put(Block& block, std::size_t offset, std::size_t bytes, std::uint64_t value) {
  for (std::size_t i = 0; i < bytes; ++i) {
    block[offset + i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
  }
}

std::uint64_t get(const Block& block, std::size_t offset, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(block[offset + i]) << (8 * i);
  }
  return value;
}

}  // namespace

void write_user_block(const std::filesystem::path& path) {
  Block block{};
  std::memcpy(block.data(), magic.data(), magic.size());
  put(block, 8, 4, layout_version);
  put(block, 12, 4, user_block_bytes);
  put(block, 16, 8, std::filesystem::file_size(path));
  write_at(open_file(path, O_WRONLY, "open"), path, 0, block);
  sync_file(path);
}

void check_user_block(const std::filesystem::path& path) {
  const std::string attempted = "open '" + path.string() + "'";
  Block block{};
  const FileDescriptor file = open_file(path, O_RDONLY, "open");
  if (read_at(file, path, 0, block) < user_block_bytes ||
      std::memcmp(block.data(), magic.data(), magic.size()) != 0) {
    throw Error(attempted, "it does not begin with Lockstep's mark of a finished file");
  }
  if (const std::uint64_t found = get(block, 8, 4); found != layout_version) {
    throw Error(attempted, "its first block has layout " + std::to_string(found) +
                               ", this program reads layout " + std::to_string(layout_version));
  }
  const std::uint64_t expected = get(block, 16, 8);
  if (const std::uint64_t found = std::filesystem::file_size(path); found != expected) {
    throw Error(attempted, "it has " + std::to_string(found) + " bytes where it was written with " +
                               std::to_string(expected));
  }
}

}  // namespace lockstep
