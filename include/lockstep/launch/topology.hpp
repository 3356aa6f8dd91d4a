#pragma once

#include <string>

namespace lockstep {

/// Where a rank stands in the job. Filled from MPI, never from the scheduler's variables.
struct Topology {
  int rank = 0;
  int world_size = 1;
  int node = 0;  ///< index of this rank's node, in order of each node's lowest rank
  int node_count = 1;
  int local_rank = 0;  ///< index among the node's ranks
  int local_size = 1;  ///< ranks on this node; may differ from node to node
  std::string host;
};

}  // namespace lockstep
