#include "lockstep/launch/device_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Case {
  const char* situation;
  int visible_gpus;
  int local_rank;
  int local_size;
  DeviceRequest requested;
  std::optional<int> expected;
};

TEST(ChooseDevice, FollowsTheTable) {
  const Case cases[] = {
      {"no GPU", 0, 0, 2, DeviceRequest::automatic, std::nullopt},
      {"the CPU on a GPU node", 4, 1, 2, DeviceRequest::cpu, std::nullopt},
      {"one GPU a task, always index 0", 1, 3, 4, DeviceRequest::automatic, 0},
      {"one GPU a task, asked for", 1, 1, 2, DeviceRequest::cuda, 0},
      {"all GPUs visible to all tasks", 4, 2, 4, DeviceRequest::automatic, 2},
      {"more GPUs than tasks", 8, 1, 2, DeviceRequest::cuda, 1},
      {"a single task that sees several", 2, 0, 1, DeviceRequest::automatic, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(choose_device(c.visible_gpus, c.local_rank, c.local_size, c.requested), c.expected)
        << c.situation;
  }
}

TEST(ChooseDevice, RefusesToShareGpusAndNamesTheNumbers) {
  try {
    choose_device(2, 0, 3, DeviceRequest::automatic);
    FAIL() << "3 ranks were given 2 GPUs";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("3 ranks"), HasSubstr("2 GPUs")));
  }
}

TEST(ChooseDevice, RefusesToTakeTheCpuForAGpuThatWasAskedFor) {
  EXPECT_THROW(choose_device(0, 0, 1, DeviceRequest::cuda), UsageError);
}

}  // namespace
}  // namespace lockstep
