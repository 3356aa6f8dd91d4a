#include "control/hang_report.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Member member(const char* host) {
  Member made;
  made.host = host;
  return made;
}

TEST(HangReport, NamesTheCulpritFirstAndThenRanksBySlowness) {
  const std::vector<Member> members{member("n1"), member("n1"), member("n2")};
  const std::vector<Sighting> ranks{
      {.beat = {.phase = Phase::step, .step = 12, .moves = 40}},
      {.beat = {.phase = Phase::load, .doing = Doing::own_work, .step = 11, .moves = 37}},
      {.beat = {.phase = Phase::step, .step = 12, .moves = 40}}};
  const std::vector<double> ages{600.2, 602.4, 601.1};
  const std::string text = hang_report({.culprits = {1}}, ranks, ages, members, 2);
  EXPECT_THAT(text, StartsWith("lockstep: [rank 2] watchdog on n2: rank 1 (n1) stands still in "
                               "phase load, step 11 for 602 s"));
  EXPECT_THAT(text, HasSubstr("  rank 1 (n1): in phase load, step 11, in work of its own, 602 s "
                              "ago, 3 beats behind\n"
                              "  rank 2 (n2): in phase step, step 12, in what ranks do together, "
                              "601 s ago\n  rank 0 (n1)"));
}

TEST(HangReport, OfManyRanksOnlyTheSlowestAreListed) {
  const std::vector<Member> members(100, member("n"));
  std::vector<Sighting> ranks(100);
  for (std::size_t i = 0; i < 100; ++i) ranks[i].beat.moves = static_cast<std::int64_t>(i);
  const std::vector<double> ages(100, 5.0);
  const std::string text = hang_report({.culprits = {0}}, ranks, ages, members, 9);
  EXPECT_THAT(text, HasSubstr("rank 7 (n):"));
  EXPECT_THAT(text, Not(HasSubstr("rank 8 (n):")));
  EXPECT_THAT(text, HasSubstr("and 92 further on"));
}

/// Of two ranks that have been still for 5 s, by rank 0.
std::string report_of_two(const Verdict& verdict) {
  const std::vector<Member> members(2, member("n"));
  return hang_report(verdict, std::vector<Sighting>(2), std::vector<double>(2, 5.0), members, 0);
}

TEST(HangReport, SaysWhereNobodyIsMoreToBlameThanOthers) {
  EXPECT_THAT(report_of_two({.culprits = {0, 1}}),
              HasSubstr("all ranks stand still at the same place"));
}

TEST(HangReport, SaysWhereAProcessDoesNotRunAtAll) {
  EXPECT_THAT(report_of_two({.culprits = {1}, .frozen = true}),
              HasSubstr("for 5 s: the process is stopped or its node cannot be reached"));
}

TEST(HangReport, NamesTheSignalOfADeadRank) {
  EXPECT_THAT(report_of_two({.culprits = {1}, .signal = SIGBUS}),
              HasSubstr("rank 1 (n) died of SIGBUS"));
}

}  // namespace
}  // namespace lockstep
