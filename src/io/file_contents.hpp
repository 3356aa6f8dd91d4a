#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lockstep/io/array_file.hpp"

#include "io/content_packing.hpp"
#include "io/hdf5.hpp"

namespace lockstep {

/// What a file tells about itself, without the elements of its arrays.
struct FileContents {
  std::vector<ArrayInfo> arrays;  ///< in order of path
  std::vector<Attribute> attributes;
  std::map<std::string, Settings, std::less<>> groups;
};

/// Looks through an open file. Throws Error where it is not of that format or of a newer version.
FileContents contents_of(const hdf5::FileHandle& file, const std::filesystem::path& path,
                         const FileFormat& format);

std::string packed(const FileContents& contents);
FileContents unpacked_contents(const std::string& message);

}  // namespace lockstep
