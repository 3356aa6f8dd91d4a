#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "lockstep/base/file_descriptor.hpp"

namespace lockstep {

// All throw Error naming the path and the system's reason. `attempted` is what the message says was
// being done, e.g. "create".

/// open(2) with mode 0666 less the umask.
FileDescriptor open_file(const std::filesystem::path& path, int flags, std::string_view attempted);

void write_at(const FileDescriptor& file, const std::filesystem::path& path, std::int64_t offset,
              std::span<const std::byte> bytes);

/// Fills `bytes` from `offset` on as far as the file reaches; returns the number of bytes read.
std::int64_t read_at(const FileDescriptor& file, const std::filesystem::path& path,
                     std::int64_t offset, std::span<std::byte> bytes);

/// Length of an open file.
std::int64_t file_bytes(const FileDescriptor& file, const std::filesystem::path& path);

/// fsync(2) of what any process of this node wrote to the file.
void sync_file(const std::filesystem::path& path);

/// Makes creations, renames and removals in the directory durable.
void sync_directory(const std::filesystem::path& directory);

/// Gives the file its place on disk, so that a full disk is known before the data goes out: by
/// fallocate(2), or where the file system has none by comparing with what statvfs(3) calls free.
void reserve_space(const std::filesystem::path& path, std::int64_t bytes);

/// Makes the file an empty one.
void release_space(const std::filesystem::path& path);

/// rename(2), then syncs the directory.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Where a file is written before it is renamed to `path`: beside it.
std::filesystem::path temporary_path(const std::filesystem::path& path);

/// The directory `path` lies in; "." for a bare name.
std::filesystem::path directory_of(const std::filesystem::path& path);

}  // namespace lockstep
