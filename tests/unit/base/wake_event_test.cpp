#include "lockstep/base/wake_event.hpp"

#include <cerrno>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

TEST(WakeEvent, IsSetOnceAndForGood) {
  WakeEvent event;
  EXPECT_FALSE(event.is_set());
  EXPECT_FALSE(event.wait_for(0.001));
  event.set();
  event.set();
  EXPECT_TRUE(event.is_set());
  EXPECT_TRUE(event.wait_for(1e9));
}

TEST(WakeEvent, WakesAThreadThatWaits) {
  WakeEvent event;
  bool woken = false;
  std::thread waiting([&] { woken = event.wait_for(1e9); });
  event.set();
  waiting.join();
  EXPECT_TRUE(woken);
}

TEST(WakeEvent, SaysThatThereIsNoDescriptorLeft) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string said;
  try {
    const WakeEvent event;
  } catch (const Error& error) {
    said = error.reason();
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(said, errno_text(EMFILE));
}

}  // namespace
}  // namespace lockstep
