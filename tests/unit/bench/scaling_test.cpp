// The model by numbers computed by hand; of steps with waits that all is summed and nothing early.
#include <cstdint>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>

#include "lockstep/base/wall_clock.hpp"
#include "lockstep/bench/scaling_model.hpp"
#include "lockstep/bench/step_emulation.hpp"

#include "support/recording_communicator.hpp"
#include "unit/io/shared_directory.hpp"

namespace lockstep {
namespace {

using testing::Each;

TEST(ScalingModel, AllReduceTakesItsMessagesAndItsBytes) {
  const Link link{.latency_seconds = 1, .bytes_per_second = 10};
  EXPECT_DOUBLE_EQ(all_reduce_seconds(link, Route::ring, 4, 20), 6 + 3);
  EXPECT_DOUBLE_EQ(all_reduce_seconds(link, Route::tree, 4, 20), 4 + 3);
  EXPECT_DOUBLE_EQ(all_reduce_seconds(link, Route::tree, 3, 30), 4 + 4);
  for (const Route route : {Route::ring, Route::tree}) {
    EXPECT_DOUBLE_EQ(all_reduce_seconds(link, route, 2, 10), 2 + 1);
    EXPECT_DOUBLE_EQ(all_reduce_seconds(link, route, 1, 10), 0);
  }
}

TEST(ScalingModel, ALinkIsFittedToTwoTimes) {
  const Link link = fitted_link(4, /*small_seconds=*/8, /*large_bytes=*/40, /*large_seconds=*/14);
  EXPECT_DOUBLE_EQ(link.latency_seconds, 2);
  EXPECT_DOUBLE_EQ(link.bytes_per_second, 10);
  EXPECT_DOUBLE_EQ(fitted_link(4, 8, 40, 6).bytes_per_second, 10);
}

// Gradients after 1, 2 and 4 s, then a second more. A message of 10 bytes between two ranks takes
// two latencies and one second.
TEST(ScalingModel, AStepWaitsForWhatItCannotHide) {
  const StepProfile profile{
      .gradients = {1, 2, 4},
      .messages = {{.after_gradients = 1, .bytes = 10}, {.after_gradients = 3, .bytes = 10}},
      .seconds = 5};
  const auto seconds = [](const StepProfile& step, double latency) {
    return step_seconds(step, {.latency_seconds = latency, .bytes_per_second = 10}, Route::ring, 2);
  };
  EXPECT_DOUBLE_EQ(seconds(profile, 0.5), 5 + 2);       // from 1 to 3 and from 4 to 6
  EXPECT_DOUBLE_EQ(seconds(profile, 2.0), 5 + 11 - 4);  // from 1 to 6 and from 6 to 11
  StepProfile hidden = profile;
  hidden.messages.pop_back();
  EXPECT_DOUBLE_EQ(seconds(hidden, 0.5), 5);
}

class EmulatedStep : public SharedDirectoryTest {};

TEST_F(EmulatedStep, SumsEveryMessageAndIsNoShorterThanTheModel) {
  const StepProfile profile{
      .gradients = {0.001, 0.002, 0.004},
      .messages = {{.after_gradients = 1, .bytes = 40}, {.after_gradients = 3, .bytes = 80}},
      .seconds = 0.005};
  const Link link{.latency_seconds = 0.0005, .bytes_per_second = 1e4};
  std::vector<float> memory(30, static_cast<float>(comm().rank() + 1));
  RecordingCommunicator messages(comm());
  SlowedCommunicator slowed(messages, link, Route::ring);
  const double seconds = emulated_step_seconds(profile, slowed, comm(), memory);
  EXPECT_EQ(messages.sequence(),
            "all_reduce 10 float32 emulated gradients\nall_reduce 20 float32 emulated gradients\n");
  EXPECT_THAT(memory, Each(0.5F * static_cast<float>(size() * (size() + 1))));
  // Some lateness aside, which waits in all ranks' clocks have.
  EXPECT_GE(seconds, step_seconds(profile, link, Route::ring, size()) - 1e-4);
}

TEST_F(EmulatedStep, SlowedMessagesAreNotThereBeforeTheirTime) {
  std::vector<float> values(2, 1.0F);
  SlowedCommunicator slowed(comm(), {.latency_seconds = 0.01, .bytes_per_second = 1e9},
                            Route::ring);
  const double began = steady_seconds();
  Work first = slowed.start_all_reduce(buffer_of(std::span(values).first(1)), ReduceOp::sum, "one");
  Work second = slowed.start_all_reduce(buffer_of(std::span(values).last(1)), ReduceOp::sum, "two");
  first.wait();
  second.wait();
  EXPECT_THAT(values, Each(static_cast<float>(size())));
  // One after the other: 2 (n - 1) latencies each.
  EXPECT_GE(steady_seconds() - began, 2 * 2 * (size() - 1) * 0.01 - 1e-4);
}

}  // namespace
}  // namespace lockstep
