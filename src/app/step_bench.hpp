#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/bench/figures.hpp"

#include "app/commands.hpp"
#include "app/train_setup.hpp"

namespace lockstep {

/// Training steps with these settings, from the data to the updated weights, `steps` a block:
/// images a second of all ranks; milliseconds a step takes and waits for data, of the slowest rank;
/// for gradients when the backward pass has ended, of the rank that waits least, since the others
/// wait for it too; and on CPUs the percentage of gradients that had been reduced by then. Writes
/// nothing. Throws AgreedError. Collective; all ranks return the same.
std::vector<Figure> bench_step(const CommandContext& context, const RunSettings& settings,
                               const Job& job, Files& files, std::int64_t blocks,
                               std::int64_t steps, const BeforeBlock& before_block);

}  // namespace lockstep
