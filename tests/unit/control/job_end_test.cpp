#include "lockstep/control/job_end.hpp"

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <future>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(JobEnd, ReadsWhatSqueuePrintsAsLocalTime) {
  ASSERT_EQ(setenv("TZ", "UTC-2", 1), 0);  // two hours ahead of Greenwich
  tzset();
  // date -u -d '2026-03-01T07:30:00' +%s
  EXPECT_EQ(parse_job_end("2026-03-01T09:30:00\n"), 1772350200.0);
  unsetenv("TZ");
  tzset();
}

TEST(JobEnd, KnowsNoLimitFromNoAnswer) {
  EXPECT_TRUE(std::isinf(parse_job_end("N/A\n").value()));
  EXPECT_FALSE(parse_job_end("").has_value());
  EXPECT_FALSE(parse_job_end("slurm_load_jobs error\n").has_value());
  EXPECT_FALSE(parse_job_end("2026-03-01T09:30:00 2026-03-01T09:30:00").has_value());
}

TEST(OutputOf, IsWhatACommandPrints) {
  EXPECT_EQ(output_of({"echo", "one", "two"}, 30.0), "one two\n");
}

TEST(OutputOf, IsNothingWhereACommandFailsOrIsNotThere) {
  EXPECT_FALSE(output_of({"false"}, 30.0).has_value());
  EXPECT_FALSE(output_of({"no-such-command-of-lockstep"}, 30.0).has_value());
}

TEST(OutputOf, KillsWhatTakesTooLongWithAllItStarted) {
  EXPECT_FALSE(output_of({"sh", "-c", "sleep 600; true"}, 0.1).has_value());
}

TEST(JobEndQuestion, IsEmptyOutsideAJob) {
  EXPECT_FALSE(job_end_question({}));
}

TEST(JobEnd, AsksOnAndKeepsTheLastAnswer) {
  int asked = 0;
  std::promise<void> third;
  const JobEnd end(
      [&]() -> std::optional<double> {
        ++asked;
        if (asked == 3) third.set_value();
        if (asked > 2) return std::nullopt;
        return 100.0 * asked;
      },
      0.001);
  third.get_future().wait();
  EXPECT_EQ(end.seconds(), 200.0);
}

TEST(JobEnd, WithoutAQuestionNeverComes) {
  const JobEnd end({}, 1.0);
  EXPECT_TRUE(std::isinf(end.seconds()));
}

TEST(JobEnd, CanBeLeftWhileItWaits) {
  std::promise<void> first;
  {
    const JobEnd end(
        [&]() -> std::optional<double> {
          first.set_value();
          return 1.0;
        },
        1e6);
    first.get_future().wait();
  }
}

}  // namespace
}  // namespace lockstep
