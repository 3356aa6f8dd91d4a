#pragma once

#include <cstdint>
#include <optional>

#include "lockstep/base/field.hpp"
#include "lockstep/data/sampler.hpp"

namespace lockstep {

/// The settings that decide how many samples an optimizer step learns from.
struct BatchOptions {
  std::int64_t batch_size = 64;  ///< samples a rank and micro-batch
  std::optional<std::int64_t> global_batch_size;
  std::int64_t grad_accum_steps = 1;
  bool drop_last = false;
};

FieldTable fields(BatchOptions& options);

/// The plan on `world` ranks: the global batch is global_batch_size where that is set, or else
/// batch_size x world x grad_accum_steps.
BatchPlan batch_plan(const BatchOptions& options, int world);

}  // namespace lockstep
