#include "lockstep/io/sealed_file.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/comm/agreement.hpp"

#include "io/posix_file.hpp"
#include "io/user_block.hpp"

namespace lockstep {
namespace {

constexpr std::size_t hash_bytes = sizeof(HashBytes);

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Share share_of(const HashedRange& range, const Communicator& comm) {
  return balanced_share(range.blocks(), comm.rank(), comm.size());
}

void check_version(const UserBlock& block, const FileFormat& format,
                   const std::filesystem::path& path) {
  if (block.format_version <= format.version) return;
  throw Error("open '" + path.string() + "'",
              "it has format version " + std::to_string(block.format_version) +
                  ", this program reads up to version " + std::to_string(format.version),
              "use the newer Lockstep that wrote it");
}

/// The list of hashes at the end of a file, which fits the block in front.
std::string checked_list(const std::filesystem::path& path, const UserBlock& block) {
  const FileDescriptor file = open_file(path, O_RDONLY, "open");
  std::string list(static_cast<std::size_t>(block.content().list_bytes()), '\0');
  read_at(file, path, block.content_end, std::as_writable_bytes(std::span(list)));
  if (hash_of(bytes_of(list)) != block.root) {
    throw Error("open '" + path.string() + "'",
                "damaged: the list of hashes at its end differs from the hash in its first block");
  }
  return list;
}

/// What is wrong with a file: its damaged blocks, over all ranks.
struct Damage {
  std::int64_t first = 0;
  std::int64_t blocks = 0;
};

Damage damage_among(const std::string& found, std::string_view expected, const Share& share,
                    Communicator& comm) {
  Damage damage{.first = std::numeric_limits<std::int64_t>::max()};
  for (std::int64_t i = share.count - 1; i >= 0; --i) {
    const auto here = static_cast<std::size_t>(i) * hash_bytes;
    const auto there = static_cast<std::size_t>(share.start + i) * hash_bytes;
    if (found.compare(here, hash_bytes, expected.substr(there, hash_bytes)) == 0) continue;
    ++damage.blocks;
    damage.first = share.start + i;
  }
  damage.blocks = all_reduce_value(comm, damage.blocks, ReduceOp::sum, "damaged blocks");
  damage.first = all_reduce_value(comm, damage.first, ReduceOp::min, "first damaged block");
  return damage;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const HashedRange& content,
                         const Damage& damage) {
  const HashedRange first = content.block(damage.first);
  std::string reason = "damaged: block " + std::to_string(damage.first + 1) + " of " +
                       std::to_string(content.blocks()) + " (bytes " + std::to_string(first.start) +
                       " to " + std::to_string(first.end - 1) + ") differs from its hash";
  if (damage.blocks > 1) reason += ", and so do " + std::to_string(damage.blocks - 1) + " others";
  throw AgreedError(ExitCode::failure, "open '" + path.string() + "'", reason,
                    "another checkpoint, or a copy of this one");
}

}  // namespace

bool begins_with_seal(const std::filesystem::path& path) {
  std::string begin(user_block_mark.size(), '\0');
  read_at(open_file(path, O_RDONLY, "open"), path, 0, std::as_writable_bytes(std::span(begin)));
  return begin == user_block_mark;
}

Seal read_seal(const std::filesystem::path& path) {
  const UserBlock block = read_user_block(path);
  HashBytes most_significant_first = block.root;
  std::ranges::reverse(most_significant_first);
  return {.format_version = block.format_version,
          .blocks = block.content().blocks(),
          .hash = hex_text(most_significant_first)};
}

void seal_file(const std::filesystem::path& path, const FileFormat& format, Communicator& comm) {
  UserBlock block{.format_version = format.version, .content_end = 0, .root = {}};
  Agreement agreement(comm);
  agreement.attempt_on_root(
      [&] { block.content_end = file_bytes(open_file(path, O_RDONLY, "open"), path); });
  agreement.settle();
  block.content_end =
      all_reduce_value(comm, block.content_end, ReduceOp::max, "length of a file's content");

  std::string hashes;
  agreement.attempt([&] {
    hashes = block_hashes(open_file(path, O_RDONLY, "open"), path, block.content(),
                          share_of(block.content(), comm));
  });
  agreement.settle();
  const std::vector<std::string> shares = all_gather_text(comm, hashes, "hashes of a file");
  agreement.attempt_on_root([&] {
    std::string list;
    for (const std::string& share : shares) list += share;
    block.root = hash_of(bytes_of(list));
    write_at(open_file(path, O_WRONLY, "open"), path, block.content_end, bytes_of(list));
    write_at(open_file(path, O_WRONLY, "open"), path, 0, encoded(block));
    sync_file(path);
  });
  agreement.settle();
}

void verify_sealed_file(const std::filesystem::path& path, const FileFormat& format,
                        Communicator& comm) {
  UserBlock block;
  std::string list;
  Agreement agreement(comm);
  agreement.attempt_on_root([&] {
    block = read_user_block(path);
    check_version(block, format, path);
    list = checked_list(path, block);
  });
  agreement.settle();
  block.content_end =
      all_reduce_value(comm, block.content_end, ReduceOp::max, "length of a file's content");
  list = broadcast_text(comm, std::move(list), 0, "hashes of a file");

  const HashedRange content = block.content();
  const Share share = share_of(content, comm);
  std::string found;
  agreement.attempt(
      [&] { found = block_hashes(open_file(path, O_RDONLY, "open"), path, content, share); });
  agreement.settle();
  const Damage damage = damage_among(found, list, share, comm);
  if (damage.blocks > 0) refuse(path, content, damage);
}

}  // namespace lockstep
