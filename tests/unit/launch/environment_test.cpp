#include "lockstep/launch/environment.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "lockstep/launch/slurm_environment.hpp"

namespace lockstep {
namespace {

TEST(EnvironmentMap, HoldsTheProcesssVariables) {
  ASSERT_EQ(setenv("LOCKSTEP_TEST_VARIABLE", "a=b", 1), 0);
  EXPECT_EQ(environment_map().at("LOCKSTEP_TEST_VARIABLE"), "a=b");
  unsetenv("LOCKSTEP_TEST_VARIABLE");
  EXPECT_FALSE(environment_map().contains("LOCKSTEP_TEST_VARIABLE"));
}

TEST(SlurmEnvironment, IsEmptyOutsideAJob) {
  const SlurmEnvironment slurm = SlurmEnvironment::from({{"HOME", "/root"}});
  EXPECT_EQ(slurm.job_text(), "");
  EXPECT_FALSE(slurm.in_step());
  EXPECT_FALSE(slurm.ntasks || slurm.step_num_tasks || slurm.cpus_per_task || slurm.restart_count);
  EXPECT_FALSE(slurm.started_by_mpiexec);
}

TEST(SlurmEnvironment, ReadsATaskOfAStepOfAJobArray) {
  const SlurmEnvironment slurm = SlurmEnvironment::from({{"SLURM_JOB_ID", "107"},
                                                         {"SLURM_ARRAY_JOB_ID", "100"},
                                                         {"SLURM_ARRAY_TASK_ID", "7"},
                                                         {"SLURM_RESTART_COUNT", "2"},
                                                         {"SLURM_CPUS_PER_TASK", "8"},
                                                         {"SLURM_NTASKS", "6"},
                                                         {"SLURM_STEP_ID", "0"},
                                                         {"SLURM_STEP_NUM_TASKS", "4"}});
  EXPECT_EQ(slurm.job_id, "107");
  EXPECT_EQ(slurm.array_job_id, "100");
  EXPECT_EQ(slurm.array_task_id, "7");
  EXPECT_EQ(slurm.restart_count, 2);
  EXPECT_EQ(slurm.cpus_per_task, 8);
  EXPECT_EQ(slurm.ntasks, 6);
  EXPECT_EQ(slurm.step_id, "0");
  EXPECT_EQ(slurm.step_num_tasks, 4);
  EXPECT_TRUE(slurm.in_step());
  EXPECT_EQ(slurm.job_text(), "Slurm job 107, task 7 of array 100, restart 2");
}

TEST(SlurmEnvironment, NamesAPlainJobByItsNumber) {
  EXPECT_EQ(SlurmEnvironment::from({{"SLURM_JOB_ID", "12"}}).job_text(), "Slurm job 12");
}

TEST(SlurmEnvironment, TakesWhatIsEmptyOrNoNumberAsUnset) {
  const SlurmEnvironment slurm = SlurmEnvironment::from({{"SLURM_JOB_ID", ""},
                                                         {"SLURM_NTASKS", "many"},
                                                         {"SLURM_CPUS_PER_TASK", "8x"},
                                                         {"SLURM_STEP_NUM_TASKS", ""}});
  EXPECT_FALSE(slurm.job_id);
  EXPECT_FALSE(slurm.ntasks || slurm.cpus_per_task || slurm.step_num_tasks);
}

TEST(SlurmEnvironment, KnowsTheLaunchersOfMpichAndOpenMpi) {
  EXPECT_TRUE(SlurmEnvironment::from({{"MPI_LOCALNRANKS", "2"}}).started_by_mpiexec);
  EXPECT_TRUE(SlurmEnvironment::from({{"OMPI_COMM_WORLD_SIZE", "2"}}).started_by_mpiexec);
  EXPECT_FALSE(SlurmEnvironment::from({{"PMI_SIZE", "2"}, {"PMI_FD", "9"}}).started_by_mpiexec);
}

}  // namespace
}  // namespace lockstep
