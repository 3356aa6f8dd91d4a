#pragma once

#include <filesystem>
#include <string_view>

namespace lockstep {

/// Replaces the file at `path` by `text`, so that a reader or a crash meets the old content or the
/// whole new one. Returns when it is on disk. Not collective; any thread. Throws Error.
void write_text_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace lockstep
