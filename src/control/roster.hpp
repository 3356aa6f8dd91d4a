#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.hpp"

#include "control/beat_socket.hpp"

namespace lockstep {

/// What the watchdogs of a job know of each rank.
struct Member {
  std::int64_t node = 0;  ///< those with equal numbers share a board
  std::string host;
  std::string board;  ///< the name of the shared memory, if this rank made any
  std::vector<Endpoint> endpoints;
  std::int64_t key = 0;  ///< rank 0's is the job's
};

/// Every rank's, by rank. Collective.
std::vector<Member> exchange_members(Communicator& comm, const Member& mine);

}  // namespace lockstep
