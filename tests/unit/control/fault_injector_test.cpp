#include "lockstep/control/fault_injector.hpp"

#include <csignal>
#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text) {
  try {
    parse_fault(text);
  } catch (const UsageError& error) {
    return error.reason();
  }
  return {};
}

TEST(Fault, IsReadInAnyOrder) {
  const Fault fault = parse_fault("kind=stall, step=7,phase=checkpoint,rank=3");
  EXPECT_EQ(fault.kind, FaultKind::stall);
  EXPECT_EQ(fault.phase, Phase::checkpoint);
  EXPECT_EQ(fault.rank, 3);
  EXPECT_EQ(fault.step, 7);
}

TEST(Fault, OfWhatIsWrongIsSaidWhat) {
  EXPECT_THAT(refusal("kind=thrw,phase=step"), HasSubstr("did you mean 'throw'"));
  EXPECT_THAT(refusal("kind=throw,phase=stop"), HasSubstr("no phase stop"));
  EXPECT_THAT(refusal("kind=throw,phase=step,step=x"), HasSubstr("x is no number"));
  EXPECT_THAT(refusal("kind=throw,phase=step,rank=-1"), HasSubstr("-1 is no number"));
  EXPECT_THAT(refusal("kind=throw,when=now"), HasSubstr("'when=now'"));
  EXPECT_THAT(refusal("kind=throw"), HasSubstr("phase and kind must be given"));
  EXPECT_THAT(refusal("kind=nan,phase=load"), HasSubstr("nan is one of phase step"));
  EXPECT_THAT(refusal("kind=throw,phase=setup,step=1"), HasSubstr("before any step"));
}

TEST(FaultInjector, StrikesOnceOnItsRankInItsPhaseFromItsStepOn) {
  FaultInjector other("rank=1,phase=step,step=5,kind=throw", 0);
  EXPECT_NO_THROW(other.at(Phase::step, 5));
  FaultInjector faults("rank=1,phase=step,step=5,kind=throw", 1);
  EXPECT_NO_THROW(faults.at(Phase::step, 4));
  EXPECT_NO_THROW(faults.at(Phase::load, 5));
  EXPECT_THROW(faults.at(Phase::step, 6), Error);
  EXPECT_NO_THROW(faults.at(Phase::step, 7));
}

TEST(FaultInjector, NoneStrikesNever) {
  FaultInjector faults("none", 0);
  EXPECT_NO_THROW(faults.at(Phase::setup, 0));
  EXPECT_FALSE(faults.spoils(0));
}

TEST(FaultInjector, RunsOutOfMemory) {
  FaultInjector faults("phase=load,kind=bad_alloc", 0);
  EXPECT_THROW(faults.at(Phase::load, 0), std::bad_alloc);
}

#ifndef __SANITIZE_ADDRESS__  // which takes SIGSEGV for itself
TEST(FaultInjector, DiesOfWhatItIsToDieOf) {
  const auto die = [](const char* spec) { FaultInjector(spec, 0).at(Phase::load, 0); };
  EXPECT_EXIT(die("phase=load,kind=segv"), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(die("phase=load,kind=abort"), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(die("phase=load,kind=kill"), testing::KilledBySignal(SIGKILL), "");
}
#endif

TEST(FaultInjector, SpoilsOneStep) {
  FaultInjector faults("phase=step,step=2,kind=nan", 0);
  faults.at(Phase::step, 2);
  EXPECT_FALSE(faults.spoils(1));
  EXPECT_TRUE(faults.spoils(2));
  EXPECT_FALSE(faults.spoils(3));
}

}  // namespace
}  // namespace lockstep
