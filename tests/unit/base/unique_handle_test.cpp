#include "lockstep/base/unique_handle.hpp"

#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int> released;

struct TestTraits {
  using type = int;
  static type empty() { return -1; }
  static void release(type handle) noexcept { released.push_back(handle); }
};
using Handle = UniqueHandle<TestTraits>;

static_assert(!std::is_copy_constructible_v<Handle> && !std::is_copy_assignable_v<Handle>);
static_assert(std::is_nothrow_move_constructible_v<Handle>);

class UniqueHandleTest : public testing::Test {
 protected:
  UniqueHandleTest() { released.clear(); }
};

TEST_F(UniqueHandleTest, ReleasesItsHandleOnce) {
  {
    const Handle handle(3);
    EXPECT_TRUE(handle);
    EXPECT_EQ(handle.get(), 3);
  }
  EXPECT_THAT(released, ElementsAre(3));
}

TEST_F(UniqueHandleTest, ReleasesNothingWhereItIsEmpty) {
  {
    const Handle handle;
    EXPECT_FALSE(handle);
  }
  EXPECT_THAT(released, IsEmpty());
}

TEST_F(UniqueHandleTest, AMoveLeavesTheSourceEmpty) {
  {
    Handle source(3);
    const Handle target(std::move(source));
    EXPECT_EQ(target.get(), 3);
    EXPECT_FALSE(source);  // NOLINT(bugprone-use-after-move): the empty state is promised
  }
  EXPECT_THAT(released, ElementsAre(3));
}

TEST_F(UniqueHandleTest, AMoveAssignmentReleasesWhatWasHeldBefore) {
  Handle target(1);
  target = Handle(2);
  EXPECT_THAT(released, ElementsAre(1));
  EXPECT_EQ(target.get(), 2);
  Handle& itself = target;
  target = std::move(itself);
  EXPECT_EQ(target.get(), 2);
  EXPECT_THAT(released, ElementsAre(1));
}

TEST_F(UniqueHandleTest, DetachGivesTheHandleUpAndResetReleasesIt) {
  Handle handle(5);
  EXPECT_EQ(handle.detach(), 5);
  EXPECT_FALSE(handle);
  EXPECT_THAT(released, IsEmpty());
  handle.reset(6);
  handle.reset();
  EXPECT_FALSE(handle);
  EXPECT_THAT(released, ElementsAre(6));
}

}  // namespace
}  // namespace lockstep
