// The life of a process under MPI. Has a main of its own, since a process can start MPI only once.
// With the argument "abort" rank 1 ends the job with code 7 while the others wait in a barrier.
#include "lockstep/comm/mpi_session.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace lockstep {
namespace {

using testing::MatchesRegex;

MpiSession* session = nullptr;

/// What mpiexec told this process; a process that was started alone is one of one.
int launcher_value(const char* name, int alone) {
  const char* text = std::getenv(name);
  return text == nullptr ? alone : std::atoi(text);
}

TEST(MpiSession, KnowsItsRankAndTheNumberOfRanks) {
  EXPECT_EQ(session->rank(), launcher_value("PMI_RANK", 0));
  EXPECT_EQ(session->size(), launcher_value("PMI_SIZE", 1));
  EXPECT_EQ(session->world().rank(), session->rank());
  EXPECT_EQ(session->world().size(), session->size());
}

TEST(MpiSession, TheWorldReachesEveryRank) {
  const std::int64_t sum = all_reduce_value(session->world(), std::int64_t{session->rank() + 1},
                                            ReduceOp::sum, "a test");
  EXPECT_EQ(sum, session->size() * (session->size() + 1) / 2);
}

TEST(MpiSession, TheRanksOfOneHostAreOneNode) {
  const Topology topology = session->topology();
  EXPECT_EQ(topology.rank, session->rank());
  EXPECT_EQ(topology.world_size, session->size());
  EXPECT_EQ(topology.node, 0);
  EXPECT_EQ(topology.node_count, 1);
  EXPECT_EQ(topology.local_rank, session->rank());
  EXPECT_EQ(topology.local_size, session->size());
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size()), 0);
  EXPECT_EQ(topology.host, host.data());
}

TEST(MpiSession, NamesTheLibraryAndItsVersion) {
  EXPECT_THAT(MpiSession::library_version(), MatchesRegex("[A-Za-z ]+ v?[0-9]+\\.[0-9.a-z]+"));
}

TEST(ShortLibraryVersion, IsTakenFromWhatTheLibrariesReport) {
  EXPECT_EQ(short_library_version("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7\n"),
            "MPICH 4.0.2");
  EXPECT_EQ(short_library_version("MPICH Version:      5.0.0\nMPICH Release date: x"),
            "MPICH 5.0.0");
  EXPECT_EQ(short_library_version("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"),
            "Open MPI v4.1.4");
}

TEST(MpiSession, WarnsWhereSumsMustTakeTheSlowerWay) {
  const bool unequal = std::getenv("LOCKSTEP_TEST_UNEQUAL_SUMS") != nullptr;
  EXPECT_EQ(session->warning().empty(), !unequal) << session->warning();
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  lockstep::MpiSession session(argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "abort") {
    if (session.rank() == 1) lockstep::MpiSession::abort(7);
    session.world().barrier("a rank that will not come");
    return 0;
  }
  lockstep::session = &session;
  const int result = RUN_ALL_TESTS();
  session.finish();
  session.finish();
  return result;
}
