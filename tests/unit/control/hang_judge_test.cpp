#include "control/hang_judge.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::ElementsAre;

constexpr double timeout = 100.0;

/// A clock that only the test moves, and three ranks that join something.
struct Job {
  HangJudge judge{timeout, 3};
  std::vector<Sighting> ranks{3};
  double now = 0.0;

  Job() { judge.look(now, ranks); }

  /// Looks every ten seconds, `each` done before; the first verdict, if there is any.
  template <typename F>
  std::optional<Verdict> watch(double seconds, F each) {
    for (const double end = now + seconds; now < end;) {
      now += 10.0;
      each();
      if (auto verdict = judge.look(now, ranks)) return verdict;
    }
    return std::nullopt;
  }
  std::optional<Verdict> watch(double seconds) {
    return watch(seconds, [] {});
  }
};

TEST(HangJudge, RanksThatMoveDoNotHang) {
  Job job;
  EXPECT_FALSE(job.watch(1000.0, [&] {
    for (Sighting& rank : job.ranks) ++rank.beat.moves;
  }));
}

TEST(HangJudge, WhoMovedLeastIsToBlameAndTheOthersOnlyWait) {
  Job job;
  for (const int rank : {0, 2}) job.ranks[static_cast<std::size_t>(rank)].beat.moves = 7;
  job.ranks[1].beat.moves = 6;
  EXPECT_FALSE(job.watch(90.0));
  const auto verdict = job.watch(20.0);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->culprits, ElementsAre(1));
  EXPECT_EQ(verdict->signal, 0);
  EXPECT_DOUBLE_EQ(job.judge.age(1), 100.0);
}

TEST(HangJudge, AStoppedProcessIsToBlameWhereverItStopped) {
  Job job;
  job.ranks[1].beat.moves = 9;  // the others never got as far as its last collective
  const auto verdict = job.watch(110.0, [&] {
    ++job.ranks[0].beat.pulse;
    ++job.ranks[2].beat.pulse;
  });
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->culprits, ElementsAre(1));
  EXPECT_TRUE(verdict->frozen);
}

TEST(HangJudge, WhereAllMovedAlikeAllAreNamed) {
  Job job;
  const auto verdict = job.watch(110.0);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->culprits, ElementsAre(0, 1, 2));
}

TEST(HangJudge, OneWhoMovesKeepsThoseWhoWaitForItFromHanging) {
  Job job;
  job.ranks[0].beat.doing = Doing::own_work;
  EXPECT_FALSE(job.watch(1000.0, [&] { ++job.ranks[0].beat.moves; }));
}

TEST(HangJudge, TheIoThreadOfAnyRankKeepsTheJobAlive) {
  Job job;
  EXPECT_FALSE(job.watch(1000.0, [&] { ++job.ranks[2].beat.io_moves; }));
}

TEST(HangJudge, ARankInItsOwnWorkHangsThoughOthersMove) {
  Job job;
  job.ranks[2].beat.doing = Doing::own_work;
  const auto verdict = job.watch(110.0, [&] {
    ++job.ranks[0].beat.moves;
    ++job.ranks[2].news;  // it is at hand, or its node speaks of it
  });
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->culprits, ElementsAre(2));
}

TEST(HangJudge, AFarRankOfWhichNothingIsHeardIsOnlyToBlameWhenAllStandStill) {
  Job job;
  job.ranks[2].beat.doing = Doing::own_work;
  job.ranks[2].news = 1;  // and never again
  for (std::size_t i = 0; i < 2; ++i) job.ranks[i].beat.moves = 5;
  const auto near_ones_are_heard = [&] {
    ++job.ranks[0].news;
    ++job.ranks[1].news;
  };
  EXPECT_FALSE(job.watch(500.0, [&] {
    near_ones_are_heard();
    ++job.ranks[0].beat.moves;
  }));
  const auto verdict = job.watch(110.0, near_ones_are_heard);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->culprits, ElementsAre(2));
}

TEST(HangJudge, WhoWasNeverHeardOfIsNotJudged) {
  Job job;
  job.ranks[1].heard = false;
  EXPECT_FALSE(job.watch(500.0, [&] { ++job.ranks[0].beat.moves; }));
  job.ranks[0].beat.moves = job.ranks[2].beat.moves + 1;
  const auto verdict = job.watch(110.0);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->culprits, ElementsAre(2));
}

TEST(HangJudge, WhoHasLeftIsNotWaitedFor) {
  Job job;
  for (Sighting& rank : job.ranks) rank.beat.doing = Doing::left;
  EXPECT_FALSE(job.watch(500.0));
}

TEST(HangJudge, AnObserverThatWasItselfStoppedStartsAnew) {
  Job job;
  EXPECT_FALSE(job.watch(90.0));
  job.now += 26.0;  // more than a quarter of the time-out without a look
  EXPECT_FALSE(job.judge.look(job.now, job.ranks));
  EXPECT_FALSE(job.watch(90.0));
  EXPECT_TRUE(job.watch(10.0));
}

TEST(HangJudge, ADeadRankIsNamedAtOnce) {
  Job job;
  job.ranks[1].beat.signal = 11;
  const auto verdict = job.watch(10.0);
  ASSERT_TRUE(verdict);
  EXPECT_THAT(verdict->culprits, ElementsAre(1));
  EXPECT_EQ(verdict->signal, 11);
}

}  // namespace
}  // namespace lockstep
