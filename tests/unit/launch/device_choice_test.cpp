#include "lockstep/launch/device_choice.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
  std::optional<int> expected;
};

TEST(ChooseDevice, FollowsTheTable) {
  const Case cases[] = {
      {"no GPU", 0, 0, 2, std::nullopt},
      {"one GPU a task, always index 0", 1, 3, 4, 0},
      {"the only GPU of a single task", 1, 0, 1, 0},
      {"all GPUs visible to all tasks", 4, 2, 4, 2},
      {"more GPUs than tasks", 8, 1, 2, 1},
      {"a single task that sees several", 2, 0, 1, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(choose_device(c.visible_gpus, c.local_rank, c.local_size), c.expected) << c.situation;
  }
}

TEST(IdleGpus, AreNamedWhereANodeHasFewerRanks) {
  EXPECT_THAT(idle_gpus_text(4, 1), AllOf(HasSubstr("3 of the 4 GPUs"), HasSubstr("1 rank and")));
  EXPECT_THAT(idle_gpus_text(8, 2), AllOf(HasSubstr("6 of the 8 GPUs"), HasSubstr("2 ranks and")));
  // The only one in sight may be one of several, of which others see theirs.
  for (const int ranks : {1, 4}) EXPECT_EQ(idle_gpus_text(1, ranks), "");
  EXPECT_EQ(idle_gpus_text(4, 4), "");
}

TEST(ChooseDevice, RefusesToShareGpusAndNamesTheNumbers) {
  try {
    choose_device(2, 0, 3);
    FAIL() << "3 ranks were given 2 GPUs";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("3 ranks"), HasSubstr("2 GPUs")));
  }
}

TEST(VisibleGpus, AreThoseThatTheVariableListsUpToTheFirstThatIsNone) {
  const std::pair<const char*, int> cases[] = {
      {"0", 1},
      {"0,1,2", 3},
      {"1, 0", 2},
      {"", 0},
      {"-1", 0},
      {"0,-1,1", 1},
      {"NoDevFiles", 0},
      {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,1", 2},
      {"MIG-1b7b8f0a-0d2f-5a6c-9a43-4c8a1b9b1f2e", 1},
  };
  for (const auto& [list, count] : cases) {
    const VisibleGpus gpus = visible_gpus({{"CUDA_VISIBLE_DEVICES", list}});
    EXPECT_EQ(gpus.count, count) << list;
    EXPECT_EQ(gpus.source, std::string("CUDA_VISIBLE_DEVICES=") + list);
  }
}

TEST(VisibleGpus, AreTheNodesWhereTheVariableIsUnset) {
  const std::filesystem::path devices =
      std::filesystem::temp_directory_path() / ("lockstep_devices_" + std::to_string(getpid()));
  std::filesystem::create_directories(devices / "nvidia-caps");
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    std::ofstream(devices / name) << ' ';
  }
  EXPECT_EQ(visible_gpus({}, devices).count, 2);
  std::filesystem::remove_all(devices);
  EXPECT_EQ(visible_gpus({}, devices).count, 0);
}

TEST(DeviceText, SaysWhichGpuAndHowItIsKnown) {
  const VisibleGpus two{2, "CUDA_VISIBLE_DEVICES=0,1"};
  EXPECT_EQ(device_text(two, 1, 2), "GPU 1 of 2 (CUDA_VISIBLE_DEVICES=0,1)");
  EXPECT_EQ(device_text({0, "CUDA_VISIBLE_DEVICES is unset"}, 1, 2),
            "no GPU (CUDA_VISIBLE_DEVICES is unset)");
  EXPECT_THAT(device_text(two, 1, 3), HasSubstr("3 ranks on this node see 2 GPUs"));
}

}  // namespace
}  // namespace lockstep
