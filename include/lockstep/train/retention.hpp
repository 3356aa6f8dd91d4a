#pragma once

#include <string>
#include <vector>

#include "lockstep/io/array_file.hpp"
#include "lockstep/io/checkpoint_store.hpp"
#include "lockstep/io/metrics_file.hpp"
#include "lockstep/train/options.hpp"

namespace lockstep {

/// What keep_best may name beside "none": columns of /epoch.
std::vector<std::string> retention_metrics();

/// Which checkpoints stay, by keep_last (which must not be 0), keep_every and keep_best. The
/// history tells the steps at which epochs ended and what they reached, also those from before a
/// resume, so nothing has to be read again. Of equal ones the earlier is the better; NaN is never
/// the best.
Retention retention_of(const TrainOptions& options, const MetricsHistory& history);

/// For people who look into a checkpoint: `epochs_done`, and what the validation gave of the epoch
/// that ended at `step`, if one did and was validated.
std::vector<Attribute> checkpoint_attributes(const MetricsHistory& history, std::int64_t step);

}  // namespace lockstep
