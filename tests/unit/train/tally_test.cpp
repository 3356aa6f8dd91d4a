#include "lockstep/train/tally.hpp"

#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "lockstep/comm/mpi_communicator.hpp"

namespace lockstep {
namespace {

TEST(Tally, IsAMeanOverSamplesNotOverRanksMeans) {
  // Losses 1, 2, 3, 4, 5: all on the only rank, or 1..4 on rank 0 and 5 on rank 1. The mean of the
  // ranks' means would be 3.75.
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  Tally mine;
  if (comm->size() == 1) {
    mine = {.loss_sum = 15.0, .correct = 3, .correct_top5 = 4, .nonfinite = 2, .samples = 5};
  } else if (comm->rank() == 0) {
    mine = {.loss_sum = 10.0, .correct = 3, .correct_top5 = 3, .nonfinite = 1, .samples = 4};
  } else if (comm->rank() == 1) {
    mine = {.loss_sum = 5.0, .correct = 0, .correct_top5 = 1, .nonfinite = 1, .samples = 1};
  }
  const Tally global = reduced(*comm, mine, "test");
  EXPECT_EQ(global.samples, 5);
  EXPECT_EQ(global.mean_loss(), 3.0);
  EXPECT_EQ(global.accuracy(), 0.6);
  EXPECT_EQ(global.accuracy_top5(), 0.8);
  EXPECT_EQ(global.nonfinite, 2);
}

TEST(Tally, NaNOfOneSampleIsNotAveragedAway) {
  Tally tally{.loss_sum = 1.0, .correct = 1, .samples = 1};
  tally += {.loss_sum = std::nan(""), .correct = 0, .samples = 1};
  EXPECT_TRUE(std::isnan(tally.mean_loss()));
  EXPECT_EQ(tally.samples, 2);
}

TEST(Tally, OfNoSampleHasNoMean) {
  EXPECT_TRUE(std::isnan(Tally{}.mean_loss()));
}

}  // namespace
}  // namespace lockstep
