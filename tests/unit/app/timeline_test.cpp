#include "app/timeline.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/train/step_profiler.hpp"

namespace lockstep {
namespace {

TEST(Timeline, ShowsRangesAsTheyNestAndNoLongerThanAsked) {
  std::vector<std::string> seen;
  const auto cuda = std::make_shared<CudaApi>();
  cuda->begin_range = [&](const char* name) { seen.emplace_back(name); };
  cuda->end_range = [&] { seen.emplace_back("end"); };
  const auto compute = [] {
    const ProfileRange step("step");
    { const ProfileRange forward("forward"); }
    const ProfileRange backward("backward");
  };

  compute();
  EXPECT_TRUE(seen.empty());
  std::shared_ptr<void> shown = show_ranges(cuda);
  compute();
  EXPECT_EQ(seen, (std::vector<std::string>{"step", "forward", "end", "backward", "end", "end"}));
  EXPECT_THROW(show_ranges(cuda), std::logic_error);
  shown.reset();
  compute();
  EXPECT_EQ(seen.size(), 6U);
}

}  // namespace
}  // namespace lockstep
