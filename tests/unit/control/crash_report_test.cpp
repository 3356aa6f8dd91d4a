#include "lockstep/control/crash_report.hpp"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

/// In a process of its own.
void die_of(int signal) {
  Heartbeat heartbeat;
  const OwnWork work = heartbeat.own_work(Phase::step, 41);
  const CrashReport report(3, "n7", heartbeat);
  std::raise(signal);
  std::exit(0);
}

TEST(CrashReport, NamesRankHostSignalAndPlaceAndStillDiesOfTheSignal) {
  testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_EXIT(die_of(SIGSEGV), testing::KilledBySignal(SIGSEGV),
              "\\[rank 3\\] on n7: died of SIGSEGV in phase step, step 41");
  EXPECT_EXIT(die_of(SIGABRT), testing::KilledBySignal(SIGABRT),
              "\\[rank 3\\] on n7: died of SIGABRT in phase step, step 41");
}

TEST(CrashReport, ThereIsOneAProcessAndItGivesSignalsBack) {
  Heartbeat heartbeat;
  std::signal(SIGFPE, SIG_IGN);
  {
    const CrashReport report(0, "n", heartbeat);
    EXPECT_THROW(CrashReport(0, "n", heartbeat), Error);
  }
  EXPECT_EQ(std::signal(SIGFPE, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace lockstep
