#include "lockstep/control/watchdog.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
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
#include "lockstep/base/wall_clock.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_session.hpp"

#include "control/beat_network.hpp"
#include "control/hang_judge.hpp"
#include "control/hang_report.hpp"
#include "control/stack_dump.hpp"

namespace lockstep {
namespace {

constexpr double rounds_a_timeout = 20.0;
constexpr double longest_round = 1.0;  // seconds
constexpr double longest_grace = 2.0;  // for the others to report
constexpr double unheard_after = 0.5;  // of the time-out
constexpr int seconds_for_abort = 5;

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

}  // namespace

class Watchdog::Impl {
 public:
  Impl(Communicator& comm, const Topology& topology, WatchdogOptions options, Heartbeat& heartbeat);
  ~Impl();

  const std::string& shortcoming() const { return network_.shortcoming(); }
  void also_report_to(const std::filesystem::path& file);

 private:
  void watch();
  void wait_for_news();
  bool speaks_for_node(double now) { return network_.speaks_for_node(now, 3 * round_); }
  void look(double now);
  void note_unheard(double now);
  void cry(const Verdict& verdict, std::span<const Sighting> ranks);
  void report(std::string_view text);

  WatchdogOptions options_;
  Heartbeat& heartbeat_;
  int rank_;
  double round_;  // seconds between looks at the board
  BeatNetwork network_;
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
      network_(comm, topology,
               {.shared_memory = options_.use_shared_memory, .sockets = options_.use_sockets}),
      judge_(options_.hang_timeout, static_cast<std::size_t>(comm.size())),
      ending_(agreed(comm, [] { return WakeEvent(); })) {
  heartbeat_.attach(&network_.own_slot());
  comm.barrier("start of the watchdogs");
  thread_ = std::thread([this] { watch(); });
}

Watchdog::Impl::~Impl() {
  ending_.set();
  thread_.join();
  network_.own_slot().doing.store(static_cast<std::int64_t>(Doing::left));
  if (speaks_for_node(steady_seconds())) network_.speak();
  heartbeat_.attach(nullptr);
}

void Watchdog::Impl::watch() {
  while (true) {
    network_.beat_pulse();
    wait_for_news();
    if (ending_.is_set()) return;
    network_.hear();
    const double now = steady_seconds();
    look(now);
    if (now >= next_speech_ && speaks_for_node(now)) {
      network_.speak();
      next_speech_ = now + options_.hang_timeout / rounds_a_timeout;
    }
    if (cried_at_ && now - *cried_at_ >= std::min(longest_grace, options_.hang_timeout)) {
      (options_.end_job ? options_.end_job : abort_job)();
      return;
    }
  }
}

void Watchdog::Impl::wait_for_news() {
  std::array<pollfd, 2> sources{
      pollfd{.fd = ending_.descriptor(), .events = POLLIN, .revents = 0},
      pollfd{.fd = network_.descriptor(), .events = POLLIN, .revents = 0}};
  ::poll(sources.data(), sources.size(), std::max(1, static_cast<int>(round_ * 1000.0)));
}

void Watchdog::Impl::look(double now) {
  if (cried_at_) return;
  const std::vector<Sighting> ranks = network_.sightings();
  std::optional<Verdict> verdict = judge_.look(now, ranks);
  const int culprit = network_.culprit();
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
  if (network_.raise(verdict.culprits[0]))
    network_.speak();  // also where another rank speaks usually
  std::vector<double> ages;
  for (std::size_t i = 0; i < ranks.size(); ++i) ages.push_back(judge_.age(static_cast<int>(i)));
  report(hang_report(verdict, ranks, ages, network_.members(), rank_));
  if (std::ranges::find(verdict.culprits, rank_) == verdict.culprits.end()) return;
  report(fmt::format("lockstep: [rank {}] its main thread is at\n", rank_));
  StackDumpSignal::ask(watched_thread_);
}

void Watchdog::Impl::note_unheard(double now) {
  if (noted_unheard_ || !network_.has_sockets() ||
      now - began_ < unheard_after * options_.hang_timeout)
    return;
  noted_unheard_ = true;
  if (rank_ != 0) return;
  const std::vector<Sighting> ranks = network_.sightings();
  const auto unheard = std::ranges::find(ranks, false, &Sighting::heard);
  if (unheard == ranks.end()) return;
  report(
      fmt::format("lockstep: [rank 0] warning: the watchdog hears nothing of {} ranks, the first "
                  "being rank {} ({}): UDP between the nodes seems to be blocked, and they are "
                  "watched within their nodes\n",
                  std::ranges::count(ranks, false, &Sighting::heard), unheard - ranks.begin(),
                  network_.members()[static_cast<std::size_t>(unheard - ranks.begin())].host));
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
  return impl_->shortcoming();
}

void Watchdog::also_report_to(const std::filesystem::path& file) {
  impl_->also_report_to(file);
}

}  // namespace lockstep
