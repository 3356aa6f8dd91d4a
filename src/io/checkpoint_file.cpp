#include "lockstep/io/checkpoint_file.hpp"

namespace lockstep {

FileFormat checkpoint_format() {
  return {.name = "lockstep.checkpoint", .version = 1, .user_block = true};
}

WriteReport write_checkpoint(const std::filesystem::path& path, const Content& content,
                             Communicator& comm, const WriteOptions& options) {
  return write_array_file(path, checkpoint_format(), content, comm, options);
}

}  // namespace lockstep
