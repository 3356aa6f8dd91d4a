#include "lockstep/control/stop_agreement.hpp"

#include <csignal>
#include <memory>

#include <gtest/gtest.h>
#include <mpi.h>

#include "lockstep/comm/mpi_communicator.hpp"

namespace lockstep {
namespace {

TEST(StopAgreement, OneRanksWishIsKnownToAllOneStepLater) {
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  const int last = comm->size() - 1;
  StopAgreement agreement(*comm);
  EXPECT_EQ(agreement.exchange({}).stop_signal, 0);
  const Wishes mine{.stop_signal = comm->rank() == last ? SIGUSR1 : 0};
  EXPECT_EQ(agreement.exchange(mine).stop_signal, 0);
  EXPECT_EQ(agreement.exchange({}).stop_signal, SIGUSR1);
  EXPECT_EQ(agreement.settle().stop_signal, 0);
}

TEST(StopAgreement, SettledTellsTheLastWishAndStartsAnew) {
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  StopAgreement agreement(*comm);
  agreement.exchange({.stop_signal = comm->rank() == 0 ? SIGTERM : 0});
  EXPECT_EQ(agreement.settle().stop_signal, SIGTERM);
  EXPECT_EQ(agreement.exchange({}).stop_signal, 0);
  agreement.settle();
}

}  // namespace
}  // namespace lockstep
