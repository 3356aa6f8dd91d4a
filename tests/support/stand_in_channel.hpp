#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// What every rank sends to every other at one step of a channel.
struct StandInMessage {
  std::string what;  ///< must be equal on all ranks
  std::vector<std::byte> data;
};

/// Steps at which all ranks exchange messages of one largest size: so a rank can leave a step, and
/// at the end make up for those that it did not take part in, whatever they were about.
class StandInChannel {
 public:
  /// `largest_message`: bytes; all messages travel in as many.
  StandInChannel(std::unique_ptr<Communicator> comm, std::size_t largest_message);

  /// Sends this rank's message of the next step. The step before must have ended.
  void send(const StandInMessage& message);
  /// All ranks' messages, by rank, once all have sent theirs; ends the step.
  std::optional<std::vector<StandInMessage>> receive();

  int rank() const { return comm_->rank(); }

  /// Ends the step under way, and takes part in those that others began; collective over `control`.
  void drain(Communicator& control);

 private:
  std::size_t largest_message_;
  std::unique_ptr<Communicator> comm_;
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
  std::optional<Work> step_;
  std::int64_t steps_ = 0;
};

}  // namespace lockstep
