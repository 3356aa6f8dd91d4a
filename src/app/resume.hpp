#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "lockstep/app/run_settings.hpp"
#include "lockstep/base/log.hpp"
#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/train/run_directory.hpp"

namespace lockstep {

/// A checkpoint that is open for reading; closed, like everything of HDF5, on the IO thread.
struct CloseOnIoThread {
  IoThread* io = nullptr;
  void operator()(CheckpointReader* reader) const {
    io->run([reader] { delete reader; });
  }
};
using OpenCheckpoint = std::unique_ptr<CheckpointReader, CloseOnIoThread>;

/// `io` and `io_comm` must outlive the checkpoint. Throws UsageError where it cannot be read.
/// Collective; throws on all ranks or on none.
OpenCheckpoint open_checkpoint(const std::filesystem::path& path, IoThread& io,
                               Communicator& io_comm);

/// The newest checkpoint in the directory that is whole; empty where there is none at all.
/// Warns of those that are not, with the reason. Throws UsageError where none of them is.
/// Collective; throws on all ranks or on none.
OpenCheckpoint open_newest_checkpoint(const std::filesystem::path& checkpoints, IoThread& io,
                                      Communicator& io_comm, Log& log);

/// The checkpoint to go on from, as resume_from and overwrite say and the directory's state
/// allows; empty for a run from the start. Throws UsageError where the directory holds a run that
/// is neither to be resumed nor overwritten, or a named checkpoint is missing, and Error where that
/// is damaged. Warns of checkpoints that are no good. Writes nothing. Collective; throws on all
/// ranks or on none.
OpenCheckpoint checkpoint_to_resume(const TrainOptions& options, const RunDirectory& directory,
                                    IoThread& io, Communicator& io_comm, Log& log);

/// Says that the checkpoint's run had these settings, which this program does not know, and which
/// version wrote it. Not collective.
std::string unknown_settings_text(const CheckpointReader& reader,
                                  const std::vector<std::string>& unknown);

/// Takes over what the checkpoint's run was configured with where nothing else is said, and throws
/// UsageError, listing all, where a setting that the trajectory depends on differs, with
/// new_horizon but for epochs, or is not known. Not collective.
void adopt_configuration(const CheckpointReader& reader, RunSettings& settings);

/// Whether the checkpoint's run trained on other data than this, which is a UsageError unless
/// new_data is set. Not collective.
bool has_other_data(const CheckpointReader& reader, const StoredSettings& provenance,
                    const TrainOptions& options);

/// What keeps the run from being bitwise what it would have been, each difference named; empty
/// where nothing does. Not collective.
std::string differences_of_machine(const CheckpointReader& reader,
                                   const StoredSettings& provenance);

}  // namespace lockstep
