#include "lockstep/control/watchdog.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/file_descriptor.hpp"
#include "lockstep/base/wake_event.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_session.hpp"

#include "control/beat_board.hpp"
#include "control/beat_socket.hpp"
#include "control/hang_judge.hpp"
#include "control/hang_report.hpp"
#include "control/roster.hpp"
#include "control/stack_dump.hpp"

namespace lockstep {
namespace {

constexpr std::size_t listeners_a_node = 2;  // so that one stopped rank does not deafen its node
constexpr double rounds_a_timeout = 20.0;
constexpr double longest_round = 1.0;  // seconds
constexpr double longest_grace = 2.0;  // for the others to report
constexpr double unheard_after = 0.5;  // of the time-out
constexpr int seconds_for_abort = 5;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void abort_job() {
  // MPI may hold on to this thread too: the lock it wants can be the hanging thread's.
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::seconds(seconds_for_abort));
    ::_exit(EXIT_FAILURE);
  }).detach();
  MpiSession::abort(EXIT_FAILURE);
}

std::int64_t random_key() {
  std::random_device random;
  return static_cast<std::int64_t>((std::uint64_t{random()} << 32) | random());
}

}  // namespace

class Watchdog::Impl {
 public:
  Impl(Communicator& comm, const Topology& topology, WatchdogOptions options, Heartbeat& heartbeat);
  ~Impl();

  std::string shortcoming;

  void also_report_to(const std::filesystem::path& file);

 private:
  BeatBoard join_board(Communicator& comm, const Topology& topology);
  BeatBoard make_board(const Topology& topology, std::size_t ranks) const;
  void find_neighbours();

  std::span<BeatSlot> slots() const { return board_->slots(); }
  BeatSlot& own_slot() const { return slots()[static_cast<std::size_t>(rank_)]; }

  void watch();
  void wait_for_news(double seconds);
  void hear();
  bool speaks_for_node(double now);
  void speak();
  void look(double now);
  void note_unheard(double now);
  std::vector<Sighting> sightings() const;
  void cry(const Verdict& verdict, std::span<const Sighting> ranks);
  void report(std::string_view text);

  struct Neighbour {
    std::size_t rank;
    std::int64_t pulse = -1;
    double alive_at = 0.0;
  };

  WatchdogOptions options_;
  Heartbeat& heartbeat_;
  int rank_;
  double round_;  // seconds between looks at the board
  std::optional<BeatSocket> socket_;
  std::vector<Member> members_;
  std::optional<BeatBoard> board_;
  std::vector<Neighbour> neighbours_;  // lower ranks of this node
  std::vector<Endpoint> listeners_;    // on other nodes
  HangJudge judge_;
  StackDumpSignal stack_signal_;
  pthread_t watched_thread_ = pthread_self();

  double began_ = steady_seconds();
  double next_speech_ = 0.0;
  bool noted_unheard_ = false;
  std::optional<double> cried_at_;

  std::mutex file_mutex_;
  FileDescriptor file_;
  WakeEvent ending_;
  std::thread thread_;
};

Watchdog::Impl::Impl(Communicator& comm, const Topology& topology, WatchdogOptions options,
                     Heartbeat& heartbeat)
    : options_(std::move(options)),
      heartbeat_(heartbeat),
      rank_(comm.rank()),
      round_(std::min(longest_round, options_.hang_timeout / rounds_a_timeout)),
      judge_(options_.hang_timeout, static_cast<std::size_t>(comm.size())) {
  board_ = join_board(comm, topology);
  find_neighbours();
  heartbeat_.attach(&own_slot());
  comm.barrier("start of the watchdogs");
  thread_ = std::thread([this] { watch(); });
}

Watchdog::Impl::~Impl() {
  ending_.set();
  thread_.join();
  own_slot().doing.store(static_cast<std::int64_t>(Doing::left));
  if (speaks_for_node(steady_seconds())) speak();
  heartbeat_.attach(nullptr);
}

BeatBoard Watchdog::Impl::make_board(const Topology& topology, std::size_t ranks) const {
  if (!options_.use_shared_memory) throw Error("share beats", "shared memory is not to be used");
  if (topology.local_rank != 0) return BeatBoard::alone(ranks);  // until the leader's is known
  return BeatBoard::create(ranks);
}

BeatBoard Watchdog::Impl::join_board(Communicator& comm, const Topology& topology) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::optional<BeatBoard> board;
  Agreement sharing(comm);
  sharing.attempt([&] { board.emplace(make_board(topology, ranks)); });
  Agreement speaking(comm);
  speaking.attempt([&] {
    if (!options_.use_sockets) throw Error("watch other nodes", "sockets are not to be used");
    socket_.emplace();
  });
  const Member mine{.node = topology.node,
                    .host = topology.host,
                    .board = board ? board->name() : "",
                    .endpoints = socket_ ? socket_->endpoints() : std::vector<Endpoint>(),
                    .key = random_key()};
  members_ = exchange_members(comm, mine);
  const auto leader = std::ranges::find(members_, mine.node, &Member::node);
  sharing.attempt([&] {
    if (topology.local_rank != 0) board.emplace(BeatBoard::open(leader->board, ranks));
  });
  const bool shared = sharing.holds();
  if (board && topology.local_rank == 0) board->unlink();
  const bool spoken = speaking.holds() && std::ranges::none_of(members_, [](const Member& member) {
                        return member.endpoints.empty();
                      });
  if (!shared) {
    board.emplace(BeatBoard::alone(ranks));
    for (std::size_t i = 0; i < ranks; ++i) members_[i].node = static_cast<std::int64_t>(i);
  }
  if (!spoken && !shared) {
    shortcoming = "neither shared memory nor sockets can be had: each rank is watched by itself";
  } else if (!spoken && topology.node_count > 1) {
    shortcoming = "there are no sockets between the nodes: ranks are watched within their node";
  }
  if (!spoken) socket_.reset();
  return std::move(*board);
}

void Watchdog::Impl::find_neighbours() {
  const auto rank = static_cast<std::size_t>(rank_);
  std::vector<std::int64_t> listening;  // of each node, how many
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (member.node == members_[rank].node) {
      if (i < rank) neighbours_.push_back({.rank = i});
      continue;
    }
    const auto node = static_cast<std::size_t>(member.node);
    if (listening.size() <= node) listening.resize(node + 1);
    if (listening[node]++ >= static_cast<std::int64_t>(listeners_a_node)) continue;
    listeners_.insert(listeners_.end(), member.endpoints.begin(), member.endpoints.end());
  }
}

void Watchdog::Impl::watch() {
  while (true) {
    own_slot().pulse.fetch_add(1);
    wait_for_news(round_);
    if (ending_.is_set()) return;
    hear();
    const double now = steady_seconds();
    look(now);
    if (now >= next_speech_ && speaks_for_node(now)) {
      speak();
      next_speech_ = now + options_.hang_timeout / rounds_a_timeout;
    }
    if (cried_at_ && now - *cried_at_ >= std::min(longest_grace, options_.hang_timeout)) {
      (options_.end_job ? options_.end_job : abort_job)();
      return;
    }
  }
}

void Watchdog::Impl::wait_for_news(double seconds) {
  std::array<pollfd, 2> sources{
      pollfd{.fd = ending_.descriptor(), .events = POLLIN, .revents = 0},
      pollfd{.fd = socket_ ? socket_->descriptor() : -1, .events = POLLIN, .revents = 0}};
  ::poll(sources.data(), sources.size(), std::max(1, static_cast<int>(seconds * 1000.0)));
}

void Watchdog::Impl::hear() {
  if (!socket_) return;
  for (const BeatMessage& message : socket_->receive(members_[0].key)) {
    for (const auto& [rank, beat] : message.ranks) {
      const auto index = static_cast<std::size_t>(rank);
      if (rank < 0 || index >= members_.size()) continue;
      if (members_[index].node == members_[static_cast<std::size_t>(rank_)].node) continue;
      slots()[index].store(beat);
      slots()[index].news.fetch_add(1);
    }
    if (message.culprit >= 0 && message.culprit < static_cast<std::int64_t>(members_.size())) {
      board_->raise(static_cast<int>(message.culprit));
    }
  }
}

// The lowest rank of a node whose watchdog still runs.
bool Watchdog::Impl::speaks_for_node(double now) {
  bool mine = true;
  for (Neighbour& neighbour : neighbours_) {
    const BeatSlot& slot = slots()[neighbour.rank];
    const std::int64_t pulse = slot.pulse.load();
    if (pulse != neighbour.pulse) neighbour = {neighbour.rank, pulse, now};
    const bool left = slot.load().doing == Doing::left;
    if (!left && now - neighbour.alive_at < 3 * round_) mine = false;
  }
  return mine;
}

void Watchdog::Impl::speak() {
  if (!socket_ || listeners_.empty()) return;
  BeatMessage message{.culprit = board_->culprit(), .ranks = {}};
  const std::int64_t node = members_[static_cast<std::size_t>(rank_)].node;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].node != node) continue;
    message.ranks.push_back({.rank = static_cast<std::int64_t>(i), .beat = slots()[i].load()});
  }
  socket_->send(members_[0].key, message, listeners_);
}

std::vector<Sighting> Watchdog::Impl::sightings() const {
  std::vector<Sighting> ranks(members_.size());
  const std::int64_t node = members_[static_cast<std::size_t>(rank_)].node;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const BeatSlot& slot = slots()[i];
    const bool near = members_[i].node == node;
    // A neighbour's board is always at hand, so there is always news of it.
    const std::int64_t news = near ? own_slot().pulse.load() : slot.news.load();
    ranks[i] = {.beat = slot.load(), .news = news, .heard = near || news > 0};
  }
  return ranks;
}

void Watchdog::Impl::look(double now) {
  if (cried_at_) return;
  const std::vector<Sighting> ranks = sightings();
  std::optional<Verdict> verdict = judge_.look(now, ranks);
  const int culprit = board_->culprit();
  if (culprit >= 0 &&
      (!verdict || std::ranges::find(verdict->culprits, culprit) == verdict->culprits.end())) {
    // Somebody else was first; all are to name the same rank.
    const std::int64_t signal = ranks[static_cast<std::size_t>(culprit)].beat.signal;
    verdict = Verdict{.culprits = {culprit}, .signal = signal, .frozen = judge_.frozen(culprit)};
  }
  if (!verdict) return note_unheard(now);
  cry(*verdict, ranks);
  cried_at_ = now;
}

void Watchdog::Impl::cry(const Verdict& verdict, std::span<const Sighting> ranks) {
  if (board_->raise(verdict.culprits[0])) speak();  // also where another rank speaks usually
  std::vector<double> ages;
  for (std::size_t i = 0; i < ranks.size(); ++i) ages.push_back(judge_.age(static_cast<int>(i)));
  report(hang_report(verdict, ranks, ages, members_, rank_));
  if (std::ranges::find(verdict.culprits, rank_) == verdict.culprits.end()) return;
  report(fmt::format("lockstep: [rank {}] its main thread is at\n", rank_));
  StackDumpSignal::ask(watched_thread_);
}

void Watchdog::Impl::note_unheard(double now) {
  if (noted_unheard_ || !socket_ || now - began_ < unheard_after * options_.hang_timeout) return;
  noted_unheard_ = true;
  if (rank_ != 0) return;
  const std::vector<Sighting> ranks = sightings();
  const auto unheard = std::ranges::find(ranks, false, &Sighting::heard);
  if (unheard == ranks.end()) return;
  report(
      fmt::format("lockstep: [rank 0] warning: the watchdog hears nothing of {} ranks, the first "
                  "being rank {} ({}): UDP between the nodes seems to be blocked, and they are "
                  "watched within their nodes\n",
                  std::ranges::count(ranks, false, &Sighting::heard), unheard - ranks.begin(),
                  members_[static_cast<std::size_t>(unheard - ranks.begin())].host));
}

void Watchdog::Impl::report(std::string_view text) {
  if (options_.report) {
    options_.report(text);
  } else {
    write_all(STDERR_FILENO, text);
  }
  const std::lock_guard lock(file_mutex_);
  if (file_) write_all(file_.get(), text);
}

void Watchdog::Impl::also_report_to(const std::filesystem::path& file) {
  FileDescriptor opened(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  const std::lock_guard lock(file_mutex_);
  file_ = std::move(opened);
}

Watchdog::Watchdog(Communicator& comm, const Topology& topology, WatchdogOptions options,
                   Heartbeat& heartbeat)
    : impl_(std::make_unique<Impl>(comm, topology, std::move(options), heartbeat)) {}

Watchdog::~Watchdog() = default;

const std::string& Watchdog::shortcoming() const {
  return impl_->shortcoming;
}

void Watchdog::also_report_to(const std::filesystem::path& file) {
  impl_->also_report_to(file);
}

}  // namespace lockstep
