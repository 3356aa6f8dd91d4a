#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "lockstep/bench/figures.hpp"
#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// MiB/s at which `mib` MiB in 60 tensors, as a network's, are written into `directory` and synced:
/// by rank 0 alone from beginning to end without any format, collectively as HDF5 without hashes,
/// and as a checkpoint, which is then verified. Files are removed. Throws AgreedError. Collective;
/// called on the IO thread; all ranks return the same.
std::vector<Figure> bench_checkpoint(const std::filesystem::path& directory, std::int64_t mib,
                                     Communicator& comm, std::int64_t blocks,
                                     const BeforeBlock& before_block);

}  // namespace lockstep
