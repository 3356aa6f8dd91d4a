#include "data/equal_data.hpp"

#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"

namespace lockstep {

std::string common_fingerprint(Communicator& comm, const Dataset& dataset) {
  const std::string own = agreed(comm, [&] { return fingerprint(dataset); });
  const std::vector<std::string> prints = all_gather_text(comm, own, "fingerprints of the data");
  for (std::size_t rank = 1; rank < prints.size(); ++rank) {
    if (prints[rank] != prints[0]) {
      throw UsageError("read " + dataset.name(),
                       "rank " + std::to_string(rank) + " read other data than rank 0",
                       "give all nodes the same file");
    }
  }
  return prints[0];
}

}  // namespace lockstep
