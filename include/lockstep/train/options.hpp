#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/base/field.hpp"
#include "lockstep/train/precision.hpp"
#include "lockstep/train/run_directory.hpp"

namespace lockstep {

/// What a run is asked to do, apart from its model, data, batches, optimizer and schedule.
struct TrainOptions {
  std::int64_t epochs = 10;
  std::int64_t seed = 42;

  std::string dtype = "float32";
  bool use_amp = true;
  std::string amp_dtype = "auto";

  double label_smoothing = 0.0;
  double max_grad_norm = 0.0;
  double ema_decay = 0.0;
  std::int64_t max_skipped_steps = 20;

  std::int64_t eval_every = 1;
  std::int64_t save_every = 1;
  std::int64_t save_every_steps = 0;
  double save_every_minutes = 0.0;
  std::string checkpoint_write = "async";
  std::int64_t keep_last = 3;
  std::int64_t keep_every = 0;
  std::string keep_best = "none";
  std::int64_t log_interval = 10;
  double metrics_interval = 30.0;
  std::string run_name;
  std::string output_dir = "runs/lockstep";
  std::string checkpoint_dir = "auto";
  std::string resume_from = "none";
  std::string on_resize = "keep_global_batch";
  bool new_horizon = false;
  bool new_data = false;
  bool overwrite = false;
  std::optional<std::int64_t> stop_after_epochs;
  std::optional<std::int64_t> max_steps;
  bool enable_profiling = false;
  bool profile_startup = false;

  double hang_timeout = 600.0;
  double stop_margin = 120.0;
  std::string fault = "none";

  std::string device = "auto";
  std::string backend = "auto";
  bool deterministic = false;
  bool tf32 = true;
  std::optional<std::int64_t> threads;
  bool allow_single = false;
};

/// What the options ask to compute in.
PrecisionRequest precision_request(const TrainOptions& options);

/// Where the options say that the run writes.
RunDirectory run_directory(const TrainOptions& options);

/// Tables of the options, in the groups help shows them in. The fields refer to `options`.
FieldTable training_fields(TrainOptions& options);
FieldTable run_fields(TrainOptions& options);
FieldTable machine_fields(TrainOptions& options);
FieldTable fault_fields(TrainOptions& options);

}  // namespace lockstep
