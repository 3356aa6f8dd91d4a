#include "lockstep/control/step_agreement.hpp"

#include <csignal>
#include <memory>

#include <gtest/gtest.h>
#include <mpi.h>

#include "lockstep/comm/mpi_communicator.hpp"

namespace lockstep {
namespace {

TEST(StepAgreement, OneRanksWishIsKnownToAllOneStepLater) {
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  const int last = comm->size() - 1;
  StepAgreement agreement(*comm);
  EXPECT_EQ(agreement.exchange({}).stop_signal, 0);
  const Wishes mine{.stop_signal = comm->rank() == last ? SIGUSR1 : 0};
  EXPECT_EQ(agreement.exchange(mine).stop_signal, 0);
  EXPECT_EQ(agreement.exchange({}).stop_signal, SIGUSR1);
  EXPECT_EQ(agreement.settle().stop_signal, 0);
}

TEST(StepAgreement, WishesDoNotMixAndOnesOfOtherRanksCount) {
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  const bool last = comm->rank() == comm->size() - 1;
  StepAgreement agreement(*comm);
  agreement.exchange({.write_failed = last, .metrics_due = comm->rank() == 0});
  const Wishes first = agreement.exchange({.checkpoint_due = last});
  EXPECT_TRUE(first.write_failed);
  EXPECT_FALSE(first.checkpoint_due);
  EXPECT_TRUE(first.metrics_due);
  EXPECT_FALSE(first.time_is_up);
  const Wishes second = agreement.exchange({.time_is_up = comm->rank() == 0});
  EXPECT_FALSE(second.write_failed);
  EXPECT_TRUE(second.checkpoint_due);
  EXPECT_FALSE(second.metrics_due);
  EXPECT_TRUE(agreement.settle().time_is_up);
}

TEST(StepAgreement, SettledTellsTheLastWishAndStartsAnew) {
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  StepAgreement agreement(*comm);
  agreement.exchange({.stop_signal = comm->rank() == 0 ? SIGTERM : 0});
  EXPECT_EQ(agreement.settle().stop_signal, SIGTERM);
  EXPECT_EQ(agreement.exchange({}).stop_signal, 0);
  agreement.settle();
}

}  // namespace
}  // namespace lockstep
