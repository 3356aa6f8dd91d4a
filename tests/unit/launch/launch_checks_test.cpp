#include "lockstep/launch/launch_checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SlurmEnvironment step_of(std::int64_t tasks) {
  return {.job_id = "1", .ntasks = tasks, .step_id = "0", .step_num_tasks = tasks};
}

void expect_nothing(const LaunchFindings& findings) {
  EXPECT_FALSE(findings.error) << findings.error->what();
  EXPECT_THAT(findings.warnings, IsEmpty());
}

TEST(CheckLaunch, HasNothingToSayOutsideAJobOrWhereTheNumbersAgree) {
  expect_nothing(check_launch({}, 1, false));
  expect_nothing(check_launch({}, 8, false));
  expect_nothing(check_launch(step_of(1), 1, false));
  expect_nothing(check_launch(step_of(6), 6, false));
}

TEST(CheckLaunch, RefusesIndependentCopiesAndNamesTheWaysOut) {
  const LaunchFindings findings = check_launch(step_of(3), 1, false);
  ASSERT_TRUE(findings.error);
  EXPECT_THAT(findings.error->reason(),
              AllOf(HasSubstr("3 tasks"), HasSubstr("1 rank"), HasSubstr("3 independent copies")));
  EXPECT_THAT(findings.error->remedy(),
              AllOf(HasSubstr("srun --mpi=list"), HasSubstr("srun --mpi=pmi2"),
                    HasSubstr("--allow_single")));
  EXPECT_THAT(findings.warnings, IsEmpty());
}

TEST(CheckLaunch, WarnsOfCopiesThatWereAllowed) {
  const LaunchFindings findings = check_launch(step_of(3), 1, true);
  EXPECT_FALSE(findings.error);
  EXPECT_THAT(findings.warnings, ElementsAre(HasSubstr("3 independent copies")));
}

TEST(CheckLaunch, WarnsOnceWithBothNumbersWhereTasksAndRanksDiffer) {
  for (const int world_size : {2, 5}) {
    const LaunchFindings findings = check_launch(step_of(4), world_size, false);
    EXPECT_FALSE(findings.error);
    EXPECT_THAT(
        findings.warnings,
        ElementsAre(AllOf(HasSubstr("4 tasks"), HasSubstr(std::to_string(world_size) + " ranks"))));
  }
}

TEST(CheckLaunch, PrefersTheStepsTasksToTheJobs) {
  SlurmEnvironment slurm = step_of(2);
  slurm.ntasks = 16;
  expect_nothing(check_launch(slurm, 2, false));
  slurm.step_num_tasks.reset();
  EXPECT_THAT(check_launch(slurm, 2, false).warnings, ElementsAre(HasSubstr("16 tasks")));
}

TEST(CheckLaunch, TakesABareProcessInABatchScriptAsOneHonestProcess) {
  expect_nothing(check_launch({.job_id = "1", .ntasks = 3}, 1, false));
}

TEST(CheckLaunch, DoesNotTakeMpiexecsHelpersForRanks) {
  SlurmEnvironment slurm = step_of(2);
  slurm.started_by_mpiexec = true;
  expect_nothing(check_launch(slurm, 8, false));
  expect_nothing(check_launch(slurm, 1, false));
}

}  // namespace
}  // namespace lockstep
