#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/bench/figures.hpp"

#include "app/commands.hpp"
#include "app/train_setup.hpp"

namespace lockstep {

/// A link to project with instead of the measured one; what is 0 is as measured.
struct GivenLink {
  double latency_us = 0.0;
  double gb_per_second = 0.0;
};

/// What a step would take on up to 1024 ranks, by the model of bench/scaling_model.hpp from what is
/// measured on these: a step without messages, `steps` a block of which the one in the middle
/// counts, and all-reduces. Beside the model stand steps on these ranks in which the computation is
/// a wait, with their own links and with links slowed until messages take half, all and twice as
/// long as the computation. Writes nothing. Throws AgreedError, also on GPUs and where a rank is
/// alone and `given` lacks something. Collective; all ranks return the same.
std::vector<Figure> bench_scaling(const CommandContext& context, const RunSettings& settings,
                                  const Job& job, Files& files, std::int64_t blocks,
                                  std::int64_t steps, const GivenLink& given,
                                  const BeforeBlock& before_block);

}  // namespace lockstep
