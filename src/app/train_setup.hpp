#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "lockstep/app/run_settings.hpp"
#include "lockstep/ddp/gradient_reducer.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/train/precision.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/replica.hpp"
#include "lockstep/train/run_directory.hpp"

#include "app/commands.hpp"
#include "app/job.hpp"
#include "app/resume.hpp"
#include "app/run_lock.hpp"

namespace lockstep {

/// What end_if_interrupted() says until something is written.
constexpr const char* before_training =
    "before the training began; nothing was written, and the same command starts it again";

/// The checkpoint a run goes on from.
struct ResumePoint {
  std::filesystem::path path;
  OpenCheckpoint reader;
  LoopState loop;  ///< what all ranks had in common
};

/// Where files are read and written: one thread a rank, with a communicator of its own, which
/// outlives it.
struct Files {
  std::unique_ptr<Communicator> comm;
  IoThread io{};
};

/// The checkpoint that the options ask for, if they ask for one and there is one. The settings that
/// the training depends on are then taken from it. Throws AgreedError. Collective.
std::optional<ResumePoint> find_resume_point(const CommandContext& context, RunSettings& settings,
                                             Files& files);

/// A run that can begin: everything that a user may have got wrong has been checked, and nothing
/// has been written yet.
struct TrainSetup {
  Splits data;               ///< the validation samples normalised
  ImageTransform transform;  ///< for the training samples
  BatchPlan plan;
  PrecisionChoice precision;
  StoredSettings provenance;
  Horizon horizon;
  bool other_data = false;           ///< than the run to be resumed was trained on
  std::unique_ptr<Replica> replica;  ///< with initial weights, by seed
  std::unique_ptr<Schedule> schedule;
};

/// Throws AgreedError where settings, data and the run to be resumed do not go together.
/// Collective.
TrainSetup set_up(const CommandContext& context, const RunSettings& settings, const Job& job,
                  const ResumePoint* resume, Files& files);

/// Makes the run's directory ready, whatever was there before, keeps it for this job, and opens the
/// logs. Throws AgreedError. Collective.
void prepare_directory(const CommandContext& context, const RunSettings& settings,
                       const RunDirectory& directory, RunLock& lock);

}  // namespace lockstep
