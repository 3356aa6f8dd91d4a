#include "lockstep/control/watchdog.hpp"

#include <chrono>
#include <csignal>
#include <future>
#include <mutex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/comm/mpi_session.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds patience{40};

/// Ranks as if the last one were on a node of its own, or all on one.
Topology topology_of(const Communicator& comm, bool two_nodes) {
  const bool far = two_nodes && comm.size() > 1 && comm.rank() == comm.size() - 1;
  return {.rank = comm.rank(),
          .world_size = comm.size(),
          .node = far ? 1 : 0,
          .node_count = two_nodes && comm.size() > 1 ? 2 : 1,
          .local_rank = far ? 0 : comm.rank(),
          .local_size = 1,
          .host = "host" + std::to_string(comm.rank())};
}

/// A watchdog that only writes down that it would end the job.
class Watched {
 private:
  // First, so that they outlive the watchdog's thread.
  std::promise<void> ended_;
  std::future<void> future_ = ended_.get_future();
  std::mutex mutex_;
  std::string text_;

 public:
  explicit Watched(bool two_nodes, WatchdogOptions options = {}) {
    options.hang_timeout = 1.0;
    options.report = [this](std::string_view text) {
      const std::lock_guard lock(mutex_);
      text_ += text;
    };
    options.end_job = [this] { ended_.set_value(); };
    watchdog.emplace(*comm, topology_of(*comm, two_nodes), options, heartbeat);
  }

  /// Waits for the end and returns what was reported; empty where there is no end.
  std::string report() {
    if (future_.wait_for(patience) != std::future_status::ready) return {};
    const std::lock_guard lock(mutex_);
    return text_;
  }
  bool ended() const {
    return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  Heartbeat heartbeat;
  std::optional<Watchdog> watchdog;
};

/// All ranks do three steps, then `stuck` stays in its own work, as long as what is returned lives,
/// while the others wait for it.
[[nodiscard]] std::optional<OwnWork> hang(Watched& watched, int stuck) {
  for (int step = 1; step <= 3; ++step) {
    const OwnWork work = watched.heartbeat.own_work(Phase::step, step);
  }
  std::optional<OwnWork> work(watched.heartbeat.own_work(Phase::step, 4));
  if (watched.comm->rank() != stuck) work.reset();
  return work;
}

std::string named(int rank) {
  return "rank " + std::to_string(rank) + " (host" + std::to_string(rank) + ") stands still";
}

TEST(Watchdog, EveryRankOfANodeNamesTheOneThatHangs) {
  for (const int stuck : {0, MpiCommunicator::duplicate_world()->size() - 1}) {
    Watched watched(/*two_nodes=*/false);
    EXPECT_EQ(watched.watchdog->shortcoming(), "");
    const auto work = hang(watched, stuck);
    const std::string report = watched.report();
    EXPECT_THAT(report, HasSubstr(named(stuck)));
    EXPECT_THAT(report, HasSubstr("step 4"));
    // Only the culprit's own stack is of use.
    EXPECT_EQ(report.find("its main thread is at") != std::string::npos,
              watched.comm->rank() == stuck);
    watched.comm->barrier("end of the test");
  }
}

TEST(Watchdog, NodesTellEachOther) {
  for (const int stuck : {0, MpiCommunicator::duplicate_world()->size() - 1}) {
    Watched watched(/*two_nodes=*/true);
    if (watched.comm->size() == 1) return;
    const auto work = hang(watched, stuck);
    EXPECT_THAT(watched.report(), HasSubstr(named(stuck)));
    watched.comm->barrier("end of the test");
  }
}

TEST(Watchdog, WithoutSharedMemoryRanksTellEachOther) {
  Watched watched(/*two_nodes=*/false, {.use_shared_memory = false});
  if (watched.comm->size() == 1) return;
  EXPECT_EQ(watched.watchdog->shortcoming(), "");
  const auto work = hang(watched, 1);
  EXPECT_THAT(watched.report(), HasSubstr(named(1)));
  watched.comm->barrier("end of the test");
}

TEST(Watchdog, WithoutSocketsItWatchesWithinTheNodeAndSaysSo) {
  Watched watched(/*two_nodes=*/true, {.use_sockets = false});
  if (watched.comm->size() == 1) return;
  EXPECT_THAT(watched.watchdog->shortcoming(), HasSubstr("within their node"));
  const bool far = watched.comm->rank() == watched.comm->size() - 1;
  const auto work = hang(watched, 0);
  EXPECT_THAT(watched.report(), far ? HasSubstr("stands still") : HasSubstr(named(0)));
  watched.comm->barrier("end of the test");
}

TEST(Watchdog, ARankThatDiedIsNamedWithItsSignal) {
  Watched watched(/*two_nodes=*/true);
  const int last = watched.comm->size() - 1;
  const OwnWork work = watched.heartbeat.own_work(Phase::evaluate, 9);
  if (watched.comm->rank() == last) watched.heartbeat.slot().signal.store(SIGSEGV);
  EXPECT_THAT(watched.report(),
              HasSubstr("rank " + std::to_string(last) + " (host" + std::to_string(last) +
                        ") died of SIGSEGV in phase evaluate, step 9"));
  watched.comm->barrier("end of the test");
}

TEST(Watchdog, RanksThatMoveAreLeftAloneAndMayLeave) {
  Watched watched(/*two_nodes=*/true);
  const auto began = std::chrono::steady_clock::now();
  // Of all ranks only one moves: the others wait for it, as for one that writes a large file.
  while (true) {
    if (watched.comm->rank() == 0) watched.heartbeat.io_moved();
    std::int64_t over = std::chrono::steady_clock::now() - began > std::chrono::seconds(3) ? 1 : 0;
    over = all_reduce_value(*watched.comm, over, ReduceOp::max, "end of the test");
    if (over == 1) break;
  }
  EXPECT_FALSE(watched.ended());
  // One leaves early; that is no hang either.
  if (watched.comm->rank() != 0) watched.watchdog.reset();
  watched.comm->barrier("end of the test");
  EXPECT_FALSE(watched.ended());
}

}  // namespace
}  // namespace lockstep
