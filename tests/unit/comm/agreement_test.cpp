#include "lockstep/comm/agreement.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/comm/mpi_session.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

class AgreementTest : public testing::Test {
 protected:
  int last() const { return comm_->size() - 1; }
  bool is_last() const { return comm_->rank() == last(); }

  /// What settle() throws here: exit code and text.
  std::string thrown(Agreement& agreement) {
    try {
      agreement.settle();
    } catch (const AgreedError& error) {
      return std::to_string(static_cast<int>(error.exit_code())) + " " + error.what();
    }
    return "nothing";
  }

  std::unique_ptr<MpiCommunicator> comm_ = MpiCommunicator::duplicate_world();
};

TEST_F(AgreementTest, HoldsWhereAllWentWell) {
  Agreement agreement(*comm_);
  agreement.attempt([] {});
  EXPECT_TRUE(agreement.holds());
  EXPECT_EQ(thrown(agreement), "nothing");
  EXPECT_EQ(agreed(*comm_, [&] { return comm_->rank() * 2; }), comm_->rank() * 2);
}

TEST_F(AgreementTest, OneRanksErrorIsThrownOnAllWithRankAndHost) {
  Agreement agreement(*comm_);
  agreement.attempt([&] {
    if (is_last()) throw Error("read a file", "it is gone", "look elsewhere");
  });
  EXPECT_FALSE(agreement.holds());
  const std::string where = comm_->size() == 1 ? ""
                                               : "on rank " + std::to_string(last()) + " (" +
                                                     MpiSession::host_name() + "): ";
  EXPECT_EQ(thrown(agreement), "1 " + where + "read a file: it is gone\n  try: look elsewhere");
}

TEST_F(AgreementTest, TheSameErrorOnAllRanksIsSaidWithoutARank) {
  Agreement agreement(*comm_);
  agreement.attempt([] { throw UsageError("choose", "no such thing"); });
  EXPECT_EQ(thrown(agreement), "2 choose: no such thing");
}

TEST_F(AgreementTest, TheLowestFailingRankIsHeard) {
  Agreement agreement(*comm_);
  agreement.attempt([&] { throw Error("try", "rank " + std::to_string(comm_->rank())); });
  EXPECT_THAT(thrown(agreement), HasSubstr("try: rank 0"));
}

TEST_F(AgreementTest, ATaskOfRankZeroFailsWithoutNamingIt) {
  Agreement agreement(*comm_);
  agreement.attempt_on_root([] { throw std::runtime_error("the disk is full"); });
  EXPECT_EQ(thrown(agreement), "1 the disk is full");
}

TEST_F(AgreementTest, TheFirstErrorOfARankIsKept) {
  Agreement agreement(*comm_);
  agreement.attempt([] { throw Error("write", "first"); });
  bool tried = false;
  agreement.attempt_on_root([&] {
    tried = true;
    throw Error("write", "second");
  });
  EXPECT_EQ(tried, comm_->rank() == 0);
  EXPECT_EQ(thrown(agreement), "1 write: first");
}

TEST_F(AgreementTest, AnAgreedErrorPassesThroughUnchanged) {
  const auto inner = [&] {
    agreed(*comm_, [&] {
      if (is_last()) throw UsageError("open", "no");
    });
  };
  try {
    agreed(*comm_, inner);
    FAIL() << "nothing was thrown";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("open: no"));
    EXPECT_THAT(error.reason(), Not(HasSubstr("rank")));
    const std::string text = error.what();
    EXPECT_EQ(text.find("on rank"), text.rfind("on rank")) << text;
  }
}

}  // namespace
}  // namespace lockstep
