#include "lockstep/launch/threads.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AffinityCpus, AreThoseTheProcessWasBoundTo) {
  const std::vector<int> before = affinity_cpus();
  ASSERT_FALSE(before.empty());
  std::vector<int> bound;
  // In a thread of its own, whose mask ends with it.
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(before.back()), &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    bound = affinity_cpus();
  }).join();
  EXPECT_THAT(bound, ElementsAre(before.back()));
}

TEST(CpuListText, WritesRunsAsRanges) {
  EXPECT_EQ(cpu_list_text(std::vector{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(cpu_list_text(std::vector{5}), "5");
  EXPECT_EQ(cpu_list_text(std::vector{1, 3, 4}), "1,3-4");
  EXPECT_EQ(cpu_list_text({}), "");
}

CpuShare share_of(std::int64_t cpus, const std::string& mask, std::vector<std::string> masks) {
  return {.cpus = cpus, .mask = mask, .node_masks = std::move(masks)};
}

TEST(ThreadsPerRank, DividesASharedMaskAmongTheNodesRanks) {
  // As under mpiexec: all ranks may use all CPUs.
  const ThreadChoice choice =
      threads_per_rank(share_of(8, "0-7", {"0-7", "0-7", "0-7"}), std::nullopt);
  EXPECT_EQ(choice.threads, 2);
  EXPECT_EQ(choice.reason, "8 CPUs (0-7) shared by 3 ranks");
  EXPECT_THAT(choice.warning, IsEmpty());
}

TEST(ThreadsPerRank, GivesARankAllOfAMaskOfItsOwn) {
  // As under srun, which binds each task.
  const ThreadChoice choice = threads_per_rank(share_of(4, "4-7", {"0-3", "4-7"}), std::nullopt);
  EXPECT_EQ(choice.threads, 4);
  EXPECT_EQ(choice.reason, "its own 4 CPUs (4-7)");
}

TEST(ThreadsPerRank, IsAtLeastOneAndWarnsWhereRanksOutnumberCpus) {
  const ThreadChoice choice = threads_per_rank(share_of(1, "0", {"0", "0", "0"}), std::nullopt);
  EXPECT_EQ(choice.threads, 1);
  EXPECT_THAT(choice.warning, HasSubstr("3 ranks of 1 thread each on 1 CPU (0)"));
}

TEST(ThreadsPerRank, TakesWhatWasRequestedAndWarnsWhereItExceedsTheMask) {
  const CpuShare own = share_of(2, "0-1", {"0-1"});
  EXPECT_EQ(threads_per_rank(own, 1).threads, 1);
  EXPECT_THAT(threads_per_rank(own, 2).warning, IsEmpty());
  const ThreadChoice choice = threads_per_rank(own, 16);
  EXPECT_EQ(choice.threads, 16);
  EXPECT_EQ(choice.reason, "as set, on 2 CPUs (0-1)");
  EXPECT_THAT(choice.warning, AllOf(HasSubstr("1 rank of 16 threads on 2 CPUs (0-1)"),
                                    HasSubstr("--cpus-per-task")));
}

TEST(ThreadsPerRank, WarnsWhereRequestsFitOneByOneButNotTogether) {
  const CpuShare shared = share_of(4, "0-3", {"0-3", "0-3"});
  EXPECT_THAT(threads_per_rank(shared, 2).warning, IsEmpty());
  EXPECT_THAT(threads_per_rank(shared, 3).warning,
              HasSubstr("2 ranks of 3 threads each on 4 CPUs"));
}

TEST(ThreadsPerRank, WarnsWhereTheTaskDidNotGetTheCpusOfTheJob) {
  CpuShare share = share_of(1, "3", {"2", "3"});
  share.promised = 4;
  EXPECT_THAT(threads_per_rank(share, std::nullopt).warning,
              AllOf(HasSubstr("4 CPUs a task"), HasSubstr("only 1 CPU (3)"),
                    HasSubstr("SRUN_CPUS_PER_TASK")));
  share.promised = 1;
  EXPECT_THAT(threads_per_rank(share, std::nullopt).warning, IsEmpty());
}

}  // namespace
}  // namespace lockstep
