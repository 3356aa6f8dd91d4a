#include "control/beat_network.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t listeners_a_node = 2;  // so that one stopped rank does not deafen its node

std::int64_t random_key() {
  std::random_device random;
  return static_cast<std::int64_t>((std::uint64_t{random()} << 32) | random());
}

BeatBoard make_board(const Topology& topology, std::size_t ranks, bool shared_memory) {
  if (!shared_memory) throw Error("share beats", "shared memory is not to be used");
  if (topology.local_rank != 0) return BeatBoard::alone(ranks);  // until the leader's is known
  return BeatBoard::create(ranks);
}

}  // namespace

BeatNetwork::BeatNetwork(Communicator& comm, const Topology& topology, const Means& means)
    : rank_(static_cast<std::size_t>(comm.rank())) {
  join(comm, topology, means);
  find_neighbours();
}

void BeatNetwork::join(Communicator& comm, const Topology& topology, const Means& means) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  Agreement sharing(comm);
  sharing.attempt([&] { board_.emplace(make_board(topology, ranks, means.shared_memory)); });
  Agreement speaking(comm);
  speaking.attempt([&] {
    if (!means.sockets) throw Error("watch other nodes", "sockets are not to be used");
    socket_.emplace();
  });
  const Member mine{.node = topology.node,
                    .host = topology.host,
                    .board = board_ ? board_->name() : "",
                    .endpoints = socket_ ? socket_->endpoints() : std::vector<Endpoint>(),
                    .key = random_key()};
  members_ = exchange_members(comm, mine);
  const auto leader = std::ranges::find(members_, mine.node, &Member::node);
  sharing.attempt([&] {
    if (topology.local_rank != 0) board_.emplace(BeatBoard::open(leader->board, ranks));
  });
  const bool shared = sharing.holds();
  if (board_ && topology.local_rank == 0) board_->unlink();
  const bool spoken = speaking.holds() && std::ranges::none_of(members_, [](const Member& member) {
                        return member.endpoints.empty();
                      });
  if (!shared) {
    board_.emplace(BeatBoard::alone(ranks));
    for (std::size_t i = 0; i < ranks; ++i) members_[i].node = static_cast<std::int64_t>(i);
  }
  if (!spoken && !shared) {
    shortcoming_ = "neither shared memory nor sockets can be had: each rank is watched by itself";
  } else if (!spoken && topology.node_count > 1) {
    shortcoming_ = "there are no sockets between the nodes: ranks are watched within their node";
  }
  if (!spoken) socket_.reset();
}

void BeatNetwork::find_neighbours() {
  std::vector<std::int64_t> listening;  // of each node, how many
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (is_near(i)) {
      if (i < rank_) neighbours_.push_back({.rank = i});
      continue;
    }
    const auto node = static_cast<std::size_t>(members_[i].node);
    if (listening.size() <= node) listening.resize(node + 1);
    if (listening[node]++ >= listeners_a_node) continue;
    const std::vector<Endpoint>& endpoints = members_[i].endpoints;
    listeners_.insert(listeners_.end(), endpoints.begin(), endpoints.end());
  }
}

void BeatNetwork::hear() {
  if (!socket_) return;
  for (const BeatMessage& message : socket_->receive(members_[0].key)) {
    for (const auto& [rank, beat] : message.ranks) {
      const auto index = static_cast<std::size_t>(rank);
      if (rank < 0 || index >= members_.size() || is_near(index)) continue;
      slots()[index].store(beat);
      slots()[index].news.fetch_add(1);
    }
    if (message.culprit >= 0 && message.culprit < static_cast<std::int64_t>(members_.size())) {
      raise(static_cast<int>(message.culprit));
    }
  }
}

bool BeatNetwork::speaks_for_node(double now, double patience) {
  bool mine = true;
  for (Neighbour& neighbour : neighbours_) {
    const BeatSlot& slot = slots()[neighbour.rank];
    const std::int64_t pulse = slot.pulse.load();
    if (pulse != neighbour.pulse) neighbour = {neighbour.rank, pulse, now};
    const bool left = slot.load().doing == Doing::left;
    if (!left && now - neighbour.alive_at < patience) mine = false;
  }
  return mine;
}

void BeatNetwork::speak() {
  if (!socket_ || listeners_.empty()) return;
  BeatMessage message{.culprit = culprit(), .ranks = {}};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!is_near(i)) continue;
    message.ranks.push_back({.rank = static_cast<std::int64_t>(i), .beat = slots()[i].load()});
  }
  socket_->send(members_[0].key, message, listeners_);
}

std::vector<Sighting> BeatNetwork::sightings() const {
  std::vector<Sighting> ranks(members_.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const BeatSlot& slot = slots()[i];
    const bool near = is_near(i);
    // A neighbour's board is always at hand, so there is always news of it.
    const std::int64_t news = near ? own_slot().pulse.load() : slot.news.load();
    ranks[i] = {.beat = slot.load(), .news = news, .heard = near || news > 0};
  }
  return ranks;
}

}  // namespace lockstep
