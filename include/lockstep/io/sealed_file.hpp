#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/array_file.hpp"

namespace lockstep {

/// Marks a finished file as complete: hashes its content, in balanced shares of the ranks, and has
/// rank 0 append the list of hashes, fill in the user block and sync the file. Every rank must have
/// synced what it wrote. Collective; throws the same Error on all ranks.
void seal_file(const std::filesystem::path& path, const FileFormat& format, Communicator& comm);

/// What a file's seal tells, without a look at its content.
struct Seal {
  std::int64_t format_version = 0;  ///< of the root attribute
  std::int64_t blocks = 0;          ///< of 4 MiB, the last one often shorter, each with its hash
  std::string hash;  ///< of the list of their hashes, as xxhsum -H2 prints one: 32 digits
};

/// Whether the file begins with the mark of a sealed one. Not collective; throws Error where it
/// cannot be read.
bool begins_with_seal(const std::filesystem::path& path);

/// Throws Error where the file has no seal, or its seal is damaged or speaks of another length than
/// the file's. Not collective.
Seal read_seal(const std::filesystem::path& path);

/// Throws the same Error on all ranks where the file is missing, was not finished, is truncated or
/// damaged anywhere, or is of a newer version than `format`. Reads all of it, each rank a balanced
/// share. Collective.
void verify_sealed_file(const std::filesystem::path& path, const FileFormat& format,
                        Communicator& comm);

}  // namespace lockstep
