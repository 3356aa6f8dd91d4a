#include "lockstep/control/stop_request.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

TEST(StopRequest, KeepsTheFirstOfTheSignalsThatAskForAStop) {
  const StopRequest stop;
  EXPECT_EQ(stop.signal(), 0);
  std::raise(SIGUSR2);
  std::raise(SIGTERM);
  EXPECT_EQ(stop.signal(), SIGUSR2);
}

TEST(StopRequest, ASecondSignalAtOnceChangesNothing) {
  const StopRequest stop(std::chrono::hours(1));
  std::raise(SIGINT);
  std::raise(SIGINT);
  EXPECT_EQ(stop.signal(), SIGINT);
}

TEST(StopRequest, ASecondSignalAfterSomePatienceEndsWhatDoesNotHeedTheFirst) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "in a fork of several threads ThreadSanitizer holds signals back";
#endif
  const auto interrupt_twice = [](bool heeding) {
    StopRequest stop(std::chrono::nanoseconds(0));
    if (heeding) stop.heed();
    std::raise(SIGINT);
    std::raise(SIGTERM);
    std::_Exit(0);
  };
  EXPECT_EXIT(interrupt_twice(false), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(interrupt_twice(true), testing::ExitedWithCode(0), "");
}

TEST(StopRequest, GivesSignalsBackWhenItEnds) {
  std::signal(SIGUSR1, SIG_IGN);
  { const StopRequest stop; }
  EXPECT_EQ(std::signal(SIGUSR1, SIG_DFL), SIG_IGN);
}

TEST(StopRequest, ANewOneHasSeenNothing) {
  {
    const StopRequest stop;
    std::raise(SIGINT);
  }
  const StopRequest stop;
  EXPECT_EQ(stop.signal(), 0);
}

TEST(StopRequest, ThereIsOneAProcess) {
  const StopRequest stop;
  EXPECT_THROW(StopRequest(), Error);
}

TEST(StopRequest, IgnoredSignalsStayIgnoredAfterIt) {
  {
    const StopRequest stop;
    StopRequest::ignore_signals();
  }
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) {
    EXPECT_EQ(std::raise(signal), 0);  // would end the process
    EXPECT_EQ(std::signal(signal, SIG_DFL), SIG_IGN);
  }
}

TEST(StopRequest, NamesSignals) {
  EXPECT_EQ(StopRequest::signal_name(SIGTERM), "SIGTERM");
  EXPECT_EQ(StopRequest::signal_name(SIGUSR1), "SIGUSR1");
  EXPECT_EQ(StopRequest::signal_name(SIGHUP), "signal 1");
}

}  // namespace
}  // namespace lockstep
