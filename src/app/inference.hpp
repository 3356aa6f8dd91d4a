#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "lockstep/app/run_settings.hpp"
#include "lockstep/train/precision.hpp"

#include "app/commands.hpp"
#include "app/job.hpp"
#include "app/train_setup.hpp"

namespace lockstep {

/// What end_if_interrupted() says until there is a result.
constexpr const char* before_result =
    "before there was a result; nothing was written, and the same command starts it again";

/// The settings of a run, and which of its checkpoints to use.
struct InferenceSettings {
  /// `group` is the heading of the setting `checkpoint` in help.
  explicit InferenceSettings(const std::string& group);

  /// Help on what matters to a command that uses a trained network, its own settings first.
  std::string help_text() const;

  std::string checkpoint;
  RunSettings run;

 private:
  std::string group_;
};

/// A trained model and its data, ready for use.
struct TrainedRun {
  std::filesystem::path checkpoint;
  Job job;
  Splits data;  ///< normalised as in training, not augmented
  PrecisionChoice precision;
  std::unique_ptr<Model> model;
  StoredSettings provenance;  ///< of this use, not of the training
};

/// Reads the settings that are not given from the checkpoint, then data and weights. Throws
/// AgreedError. Collective.
TrainedRun load_trained_run(const CommandContext& context, InferenceSettings& settings,
                            Files& files);

}  // namespace lockstep
