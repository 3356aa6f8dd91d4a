#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/launch/topology.hpp"

#include "control/beat_board.hpp"
#include "control/beat_socket.hpp"
#include "control/hang_judge.hpp"
#include "control/roster.hpp"

namespace lockstep {

/// Beats of all ranks, as one of them knows them: those of its node from a board in shared memory,
/// those of others as datagrams, which one rank of each node sends for all of it. Where a means
/// cannot be had on one rank, none uses it.
class BeatNetwork {
 public:
  struct Means {
    bool shared_memory = true;
    bool sockets = true;
  };

  /// Collective.
  BeatNetwork(Communicator& comm, const Topology& topology, const Means& means);

  /// By rank.
  const std::vector<Member>& members() const { return members_; }
  BeatSlot& own_slot() const { return slots()[rank_]; }
  /// What this rank cannot see, for a warning; empty where it sees all.
  const std::string& shortcoming() const { return shortcoming_; }
  /// Whether nodes hear of each other.
  bool has_sockets() const { return socket_.has_value(); }
  /// Becomes readable where hear() has something to do; -1 where it never does.
  int descriptor() const { return socket_ ? socket_->descriptor() : -1; }

  // Not collective; by the watchdog's thread.

  /// Shows the node that this watchdog runs.
  void beat_pulse() { own_slot().pulse.fetch_add(1); }
  /// Takes in what other nodes sent.
  void hear();
  /// Whether this is the lowest rank of the node whose watchdog still runs: has beaten its pulse
  /// within the last `patience` seconds of clock `now`, and has not left.
  bool speaks_for_node(double now, double patience);
  /// Sends the node's beats and the culprit, if there is one, to others.
  void speak();

  std::vector<Sighting> sightings() const;

  /// Makes `rank` the culprit unless there is one; returns whether it was this call.
  bool raise(int rank) { return board_->raise(rank); }
  /// The rank that the job ends for; -1 where there is none.
  int culprit() const { return board_->culprit(); }

 private:
  struct Neighbour {
    std::size_t rank;
    std::int64_t pulse = -1;
    double alive_at = 0.0;
  };

  void join(Communicator& comm, const Topology& topology, const Means& means);
  void find_neighbours();
  std::span<BeatSlot> slots() const { return board_->slots(); }
  bool is_near(std::size_t rank) const { return members_[rank].node == members_[rank_].node; }

  std::size_t rank_;
  std::string shortcoming_;
  std::optional<BeatSocket> socket_;
  std::vector<Member> members_;
  std::optional<BeatBoard> board_;
  std::vector<Neighbour> neighbours_;  // lower ranks of this node
  std::vector<Endpoint> listeners_;    // on other nodes
};

}  // namespace lockstep
