#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/base/file_descriptor.hpp"
#include "lockstep/control/heartbeat.hpp"

namespace lockstep {

/// Where a process can be reached by UDP over IPv4; both in network byte order.
struct Endpoint {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
};

/// A rank's beat on its way between nodes of one job.
struct BeatNews {
  std::int64_t rank = 0;
  Beat beat;
};

/// What a datagram holds.
struct BeatMessage {
  std::int64_t culprit = -1;  ///< of an alarm, or -1
  std::vector<BeatNews> ranks;
};

/// Sends and receives beats by UDP: nothing waits for it, and what is lost is sent again anyway.
/// Messages carry the job's `key`; others are dropped.
class BeatSocket {
 public:
  /// Throws Error where the system gives no socket.
  BeatSocket();

  /// This process's addresses: those of all interfaces that are up, without the loopback where
  /// there are others. May be empty.
  std::vector<Endpoint> endpoints() const;

  /// In as many datagrams as it takes, none larger than any network passes in one piece. What
  /// cannot be sent is left.
  void send(std::int64_t key, const BeatMessage& message, std::span<const Endpoint> to);

  /// All that has arrived.
  std::vector<BeatMessage> receive(std::int64_t key);

  /// Readable when something has arrived.
  int descriptor() const { return socket_.get(); }

 private:
  FileDescriptor socket_;
};

}  // namespace lockstep
