#include "lockstep/base/output_drain.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace lockstep {
namespace {

/// Standard error goes into a pipe of which this holds the reading end.
class PipedStandardError {
 public:
  PipedStandardError() {
    std::fflush(stderr);
    former_ = ::dup(STDERR_FILENO);
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
    reading_end_ = ends[0];
  }
  PipedStandardError(const PipedStandardError&) = delete;
  PipedStandardError& operator=(const PipedStandardError&) = delete;
  ~PipedStandardError() {
    ::dup2(former_, STDERR_FILENO);
    ::close(former_);
    ::close(reading_end_);
  }

  static void say(std::string_view text) {
    EXPECT_EQ(::write(STDERR_FILENO, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  int unread() const {
    int bytes = 0;
    EXPECT_EQ(::ioctl(reading_end_, FIONREAD, &bytes), 0);
    return bytes;
  }
  void read() const {
    std::array<char, 64> text{};
    EXPECT_GT(::read(reading_end_, text.data(), text.size()), 0);
  }

 private:
  int former_ = -1;
  int reading_end_ = -1;
};

TEST(AwaitOutputReaders, ReturnsOnceEverythingIsRead) {
  const PipedStandardError piped;
  PipedStandardError::say("the reason");
  std::thread slow_reader([&piped] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    piped.read();
  });
  await_output_readers();
  EXPECT_EQ(piped.unread(), 0);
  slow_reader.join();
}

TEST(AwaitOutputReaders, DoesNotWaitForEverForWhoDoesNotRead) {
  const PipedStandardError piped;
  PipedStandardError::say("the reason");
  await_output_readers();
  EXPECT_EQ(piped.unread(), 10);
}

}  // namespace
}  // namespace lockstep
