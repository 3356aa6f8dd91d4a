#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

/// Settings by what the commands make of them. tests/unit/app checks that each is a setting.
namespace lockstep::setting_names {

/// A resumed run may change them: its trajectory depends on none.
constexpr std::array<std::string_view, 34> free_on_resume{"output_dir",       "checkpoint_dir",
                                                          "run_name",         "resume_from",
                                                          "overwrite",        "stop_after_epochs",
                                                          "max_steps",        "max_skipped_steps",
                                                          "eval_every",       "save_every",
                                                          "save_every_steps", "save_every_minutes",
                                                          "keep_last",        "keep_every",
                                                          "keep_best",        "checkpoint_write",
                                                          "log_interval",     "metrics_interval",
                                                          "enable_profiling", "profile_startup",
                                                          "device",           "backend",
                                                          "threads",          "allow_single",
                                                          "num_workers",      "prefetch",
                                                          "train_data",       "val_data",
                                                          "on_resize",        "new_horizon",
                                                          "new_data",         "hang_timeout",
                                                          "stop_margin",      "fault"};

/// Meant for one start and not kept in config.ini: read back, it must not remove or resume a run
/// that nobody spoke of.
constexpr std::array<std::string_view, 7> for_one_start{
    "overwrite", "resume_from", "stop_after_epochs", "max_steps", "new_horizon",
    "new_data",  "fault"};

/// What eval and predict show of those outside the group Data; of the others the checkpoint
/// decides, or they are about training.
constexpr std::array<std::string_view, 12> used_in_inference{
    "batch_size",    "hang_timeout", "use_amp", "amp_dtype",    "ema_decay",   "device",
    "deterministic", "tf32",         "threads", "allow_single", "num_workers", "prefetch"};

/// What bench shows of those outside the group Data.
constexpr std::array<std::string_view, 9> used_in_bench{
    "batch_size", "global_batch_size", "seed",        "device",  "backend",
    "threads",    "allow_single",      "num_workers", "prefetch"};

/// Of the group Data.
constexpr std::array<std::string_view, 2> only_in_training{"crop_padding", "horizontal_flip"};

template <std::size_t count>
constexpr bool contains(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace lockstep::setting_names
