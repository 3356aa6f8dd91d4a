#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// What one rank measured in an epoch.
struct RankRecord {
  std::int64_t train_samples = 0;
  double train_seconds = 0.0;
  double data_wait_seconds = 0.0;  ///< of these, spent waiting for batches
  double comm_wait_seconds = 0.0;  ///< and waiting for gradients of other ranks
  std::int64_t peak_rss_bytes = 0;
};

/// Every rank's record, by rank. Counts stay exact below 2^53. Collective.
std::vector<RankRecord> gathered(Communicator& comm, const RankRecord& mine);

}  // namespace lockstep
