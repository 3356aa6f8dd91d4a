#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

/// What the HDF5 file at `path` holds, for people, one fact a line: kind and versions, the run's
/// settings in short, its position, every data set with element type, shape and size, and where
/// `with_hashes` the XXH3 (128 bits) of its elements in row-major order. Throws Error where it is
/// no HDF5 file or cannot be read. Called on the IO thread.
std::string description_of_file(const std::filesystem::path& path, bool with_hashes);

}  // namespace lockstep
