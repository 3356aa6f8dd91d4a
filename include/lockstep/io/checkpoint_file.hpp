#pragma once

#include <filesystem>
#include <utility>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/array_file.hpp"

namespace lockstep {

/// format="lockstep.checkpoint"; a user block in front.
FileFormat checkpoint_format();

/// Writes a checkpoint; see write_array_file(). Collective; called on the IO thread.
WriteReport write_checkpoint(const std::filesystem::path& path, const Content& content,
                             Communicator& comm, const WriteOptions& options = {});

/// A checkpoint opened for reading; see ArrayFileReader.
class CheckpointReader : public ArrayFileReader {
 public:
  /// Collective; called on the IO thread.
  CheckpointReader(std::filesystem::path path, Communicator& comm)
      : ArrayFileReader(std::move(path), checkpoint_format(), comm) {}
};

}  // namespace lockstep
