#include "lockstep/io/directory_lock.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"

#include "support/temporary_directory.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;

class DirectoryLockTest : public testing::Test {
 protected:
  std::string refusal() const {
    try {
      const DirectoryLock second(directory_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  }

  TemporaryDirectory temporary_;
  const std::filesystem::path& directory_ = temporary_.path();
};

TEST_F(DirectoryLockTest, RefusesASecondHolderAndNamesTheFirst) {
  DirectoryLock first(directory_);
  EXPECT_EQ(first.shortcoming(), "");
  first.sign("process 12 on n1");
  EXPECT_THAT(refusal(), HasSubstr("another run does: process 12 on n1"));
  EXPECT_THAT(refusal(), HasSubstr(directory_.string()));
}

TEST_F(DirectoryLockTest, IsFreeAgainAfterItsHolder) {
  { DirectoryLock(directory_).sign("a process with a name that is rather long"); }
  DirectoryLock next(directory_);
  next.sign("short");
  EXPECT_THAT(refusal(), HasSubstr("another run does: short\n"));
}

TEST_F(DirectoryLockTest, MovesWithItsOwner) {
  DirectoryLock first(directory_);
  {
    const DirectoryLock second(std::move(first));
    EXPECT_NE(refusal(), "");
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(DirectoryLockTest, DiesWithAProcessThatIsKilled) {
  const pid_t child = fork();
  if (child == 0) {
    const DirectoryLock lock(directory_);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(refusal(), "");
}

TEST_F(DirectoryLockTest, TakingItChangesNothingInTheFile) {
  { DirectoryLock(directory_).sign("before"); }
  { const DirectoryLock lock(directory_); }
  EXPECT_EQ(content_of(directory_ / "run.lock"), "before");
}

}  // namespace
}  // namespace lockstep
