#include "lockstep/control/heartbeat.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(OwnWork, EndsWithItsScopeAndWhatFollowsMayWait) {
  Heartbeat heartbeat;
  {
    const OwnWork work = heartbeat.own_work(Phase::load, 7);
    EXPECT_EQ(heartbeat.slot().load().doing, Doing::own_work);
    EXPECT_EQ(heartbeat.slot().load().moves, 1);
  }
  const Beat after = heartbeat.slot().load();
  EXPECT_EQ(after.doing, Doing::joining);
  EXPECT_EQ(after.phase, Phase::load);
  EXPECT_EQ(after.step, 7);
  EXPECT_EQ(after.moves, 2);
}

TEST(OwnWork, EndsByAnExceptionToo) {
  Heartbeat heartbeat;
  const auto fail = [&heartbeat] {
    const OwnWork work = heartbeat.own_work(Phase::step, 1);
    throw std::runtime_error("bad");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(heartbeat.slot().load().doing, Doing::joining);
}

TEST(OwnWork, IsHandedOnWithoutABeat) {
  Heartbeat heartbeat;
  std::optional<OwnWork> first(heartbeat.own_work(Phase::step, 1));
  const OwnWork second(std::move(*first));
  first.reset();
  EXPECT_EQ(heartbeat.slot().load().doing, Doing::own_work);
  EXPECT_EQ(heartbeat.slot().load().moves, 1);
}

}  // namespace
}  // namespace lockstep
