#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lockstep/bench/figures.hpp"
#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// Memory that messages are in, `bytes` of it, borrowed.
struct MessageMemory {
  void* data = nullptr;
  std::int64_t bytes = 0;
  MemoryKind kind = MemoryKind::host;
  std::function<void()> wait = [] {};  ///< for what was put into the default stream
};

/// Microseconds an all-reduce (sum, float32) takes that starts when the one before is done, by size
/// of message: 4 KiB, 16 KiB, ... up to `memory`'s. A block's value is the slowest rank's mean over
/// so many that they take at least 20 ms. The remark is the bus bandwidth at the median: what each
/// rank sends and receives by a ring, 2 (n - 1) / n of the message. `comm` carries the messages,
/// `hosts` what ranks tell each other in between. Collective; all ranks return the same.
std::vector<Figure> bench_all_reduce(Communicator& comm, Communicator& hosts,
                                     const MessageMemory& memory, std::int64_t blocks,
                                     const BeforeBlock& before_block);

}  // namespace lockstep
