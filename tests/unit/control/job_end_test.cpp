#include "lockstep/control/job_end.hpp"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

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

TEST(OutputOf, KillsWhatClosesItsOutputAndGoesOn) {
  EXPECT_FALSE(output_of({"sh", "-c", "exec >&-; sleep 20"}, 0.1).has_value());
}

// A signal ends what waits for output, but not the time it has.
TEST(OutputOf, KeepsItsDeadlineThroughSignals) {
  struct sigaction kept {};
  struct sigaction ignoring {};
  ignoring.sa_handler = [](int) {};
  ignoring.sa_flags = SA_RESTART;  // a read goes on after it; nothing does that for poll
  ASSERT_EQ(sigaction(SIGUSR1, &ignoring, &kept), 0);
  std::promise<bool> answered;
  std::thread asking([&] { answered.set_value(output_of({"sleep", "20"}, 0.5).has_value()); });
  std::future<bool> answer = answered.get_future();
  while (answer.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    pthread_kill(asking.native_handle(), SIGUSR1);
  }
  asking.join();
  sigaction(SIGUSR1, &kept, nullptr);
  EXPECT_FALSE(answer.get());
}

TEST(JobEndQuestion, IsEmptyOutsideAJob) {
  EXPECT_FALSE(job_end_question({}));
}

/// Gives the calling process a `squeue` of its own, which tells what it was asked.
class JobEndQuestionTest : public testing::Test {
 protected:
  JobEndQuestionTest() {
    setenv("PATH", (directory_.path().string() + ":" + path_).c_str(), 1);
    setenv("TZ", "UTC", 1);
    tzset();
  }
  ~JobEndQuestionTest() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("TZ");
    tzset();
  }

  void squeue_does(const std::string& script) const {
    const std::filesystem::path file = directory_.path() / "squeue";
    std::ofstream(file) << "#!/bin/sh\nprintf '%s\\n' \"$@\" > " << directory_.path().string()
                        << "/asked\n"
                        << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  std::string asked() const { return content_of(directory_.path() / "asked"); }

  const SlurmEnvironment plain_{.job_id = "107", .job_end_time = 1000};
  const SlurmEnvironment first_of_array_{
      .job_id = "100", .array_job_id = "100", .array_task_id = "1", .job_end_time = 1000};
  const WakeEvent never_;

 private:
  std::string path_ = std::getenv("PATH");
  TemporaryDirectory directory_;
};

TEST_F(JobEndQuestionTest, IsForTheJobsNumber) {
  squeue_does("echo 2026-03-01T07:30:00");
  EXPECT_EQ(job_end_question(plain_)(never_), 1772350200.0);
  EXPECT_THAT(asked(), testing::HasSubstr("--jobs=107\n"));
}

TEST_F(JobEndQuestionTest, IsForOneTaskOfAnArrayAlone) {
  // As squeue does where it is asked for the array.
  squeue_does(
      "case \"$*\" in *--jobs=100_1\\ *) echo 2026-03-01T07:30:00 ;; "
      "*) echo 2026-03-01T07:30:00; echo 2026-03-01T08:00:00 ;; esac");
  EXPECT_EQ(job_end_question(first_of_array_)(never_), 1772350200.0);
}

TEST_F(JobEndQuestionTest, FallsBackToWhatTheJobWasTold) {
  for (const char* script : {"echo 2026-03-01T07:30:00; echo 2026-03-01T08:00:00", "true",
                             "echo slurm_load_jobs error", "echo 2026-03-01T07:30:00; exit 1"}) {
    squeue_does(script);
    EXPECT_EQ(job_end_question(plain_)(never_), 1000.0) << script;
  }
}

TEST_F(JobEndQuestionTest, DoesNotWaitForASqueueThatNeverEnds) {
  for (const char* script : {"sleep 20", "echo 2026-03-01T07:30:00; exec >&-; sleep 20"}) {
    squeue_does(script);
    EXPECT_EQ(job_end_question(plain_, 0.5)(never_), 1000.0) << script;
  }
}

TEST_F(JobEndQuestionTest, OnceAnsweredLeavesWhatTheJobWasToldAtItsStart) {
  const auto question = job_end_question(plain_);
  squeue_does("echo 2026-03-01T07:30:00");
  EXPECT_EQ(question(never_), 1772350200.0);
  squeue_does("exit 1");
  EXPECT_FALSE(question(never_).has_value());
}

TEST(JobEnd, AsksOnAndKeepsTheLastAnswer) {
  int asked = 0;
  std::promise<void> third;
  const JobEnd end(
      [&](const WakeEvent&) -> std::optional<double> {
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
        [&](const WakeEvent&) -> std::optional<double> {
          first.set_value();
          return 1.0;
        },
        1e6);
    first.get_future().wait();
  }
}

TEST(JobEnd, CanBeLeftWhileItAsks) {
  std::promise<void> asked;
  std::optional<std::string> answer = "none yet";
  {
    const JobEnd end(
        [&](const WakeEvent& calls_off) -> std::optional<double> {
          asked.set_value();
          answer = output_of({"sleep", "20"}, 600.0, &calls_off);
          return std::nullopt;
        },
        1e6);
    asked.get_future().wait();
  }
  EXPECT_FALSE(answer.has_value());
}

}  // namespace
}  // namespace lockstep
