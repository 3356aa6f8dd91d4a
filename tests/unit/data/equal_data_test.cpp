#include "data/equal_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_communicator.hpp"

#include "unit/data/fake_dataset.hpp"

namespace lockstep {
namespace {

TEST(CommonFingerprint, IsTheDatasWhereAllRanksHoldTheSame) {
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  // Printed by reference_values.py.
  EXPECT_EQ(common_fingerprint(*comm, FakeDataset(3)), "ca3dd22a2f9b71f3644195b7f43e3949");
}

TEST(CommonFingerprint, ThatOneRankCannotMakeIsAnErrorOnAll) {
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  const FakeDataset dataset(3, [&](std::int64_t id) {
    if (id == 2 && comm->rank() == comm->size() - 1) throw Error("read sample 2", "bad sector");
  });
  try {
    common_fingerprint(*comm, dataset);
    ADD_FAILURE() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::failure);
    EXPECT_EQ(error.reason(), "bad sector");
  }
}

TEST(CommonFingerprint, NamesTheRankThatHoldsOtherData) {
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  if (comm->size() == 1) return;
  const FakeDataset dataset(comm->rank() == 1 ? 4 : 3);
  try {
    common_fingerprint(*comm, dataset);
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.reason(), testing::HasSubstr("rank 1 read other data"));
  }
}

}  // namespace
}  // namespace lockstep
