#include "lockstep/io/atomic_text.hpp"

#include <span>
#include <system_error>

#include <fcntl.h>

#include "io/posix_file.hpp"

namespace lockstep {

void write_text_atomically(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path temporary = temporary_path(path);
  try {
    const FileDescriptor file = open_file(temporary, O_CREAT | O_TRUNC | O_WRONLY, "create");
    write_at(file, temporary, 0, std::as_bytes(std::span(text)));
    sync_file(temporary);
    rename_durably(temporary, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw;
  }
}

}  // namespace lockstep
