#include "lockstep/optim/grad_scaler.hpp"

#include <vector>

#include <ATen/ops/scalar_tensor.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

// s = torch.amp.GradScaler("cpu", init_scale=1024., growth_interval=3), and for each of these steps
// an infinite gradient or none; (s.get_scale(), s.state_dict()["_growth_tracker"]) after it.
const std::vector<bool> overflows{false, false, true,  false, false, false, false,
                                  false, false, true,  true,  false, false, false,
                                  true,  false, false, false, false, false, false};
const std::vector<std::pair<double, int>> pytorch{
    {1024, 1}, {1024, 2}, {512, 0},  {512, 1},  {512, 2},  {1024, 0}, {1024, 1},
    {1024, 2}, {2048, 0}, {1024, 0}, {512, 0},  {512, 1},  {512, 2},  {1024, 0},
    {512, 0},  {512, 1},  {512, 2},  {1024, 0}, {1024, 1}, {1024, 2}, {2048, 0}};

void update(GradScaler& scaler, bool overflowed) {
  scaler.update(at::scalar_tensor(overflowed ? 1.0F : 0.0F, at::kFloat));
}

GradScaler scaler() {
  return GradScaler({.initial_scale = 1024.0, .growth_interval = 3});
}

void expect_pytorchs(GradScaler& scaler, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    update(scaler, overflows[i]);
    EXPECT_EQ(scaler.state().scale, pytorch[i].first) << i;
    EXPECT_EQ(scaler.state().growth_tracker, pytorch[i].second) << i;
  }
}

TEST(GradScaler, FollowsPyTorchs) {
  GradScaler ours = scaler();
  expect_pytorchs(ours, 0, overflows.size());
}

TEST(GradScaler, GoesOnFromRestoredState) {
  GradScaler first = scaler();
  expect_pytorchs(first, 0, 8);
  GradScaler second = scaler();
  second.restore(first.state());
  expect_pytorchs(second, 8, overflows.size());
}

TEST(GradScaler, BeginsAndMovesAsPyTorchsDoesByDefault) {
  GradScaler ours((GradScalerOptions()));
  EXPECT_EQ(ours.state().scale, 65536.0);
  for (int i = 0; i < 1999; ++i) update(ours, false);
  EXPECT_EQ(ours.state().scale, 65536.0);
  update(ours, false);
  EXPECT_EQ(ours.state().scale, 131072.0);
  update(ours, true);
  EXPECT_EQ(ours.state().scale, 65536.0);
}

TEST(GradScaler, StopsBackingOffAtItsFloor) {
  GradScaler ours({.initial_scale = 8.0, .smallest_scale = 3.0});
  for (const double expected : {4.0, 3.0, 3.0}) {
    update(ours, true);
    EXPECT_EQ(ours.state().scale, expected);
  }
  GradScaler low({.initial_scale = 2.0, .smallest_scale = 3.0});
  update(low, true);
  EXPECT_EQ(low.state().scale, 2.0);
}

TEST(GradScaler, DoesNotGrowBeyondFloat32) {
  GradScaler ours({.initial_scale = 0x1p127, .growth_interval = 1});
  update(ours, false);
  EXPECT_EQ(ours.state().scale, 0x1p127);
  EXPECT_EQ(ours.state().growth_tracker, 0);
}

}  // namespace
}  // namespace lockstep
