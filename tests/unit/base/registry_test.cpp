#include "lockstep/base/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Registry<int(int)> schedules() {
  Registry<int(int)> registry("schedule");
  registry.add("cosine", [](int x) { return x + 1; });
  registry.add("constant", [](int x) { return x; });
  return registry;
}

TEST(Registry, FindsWhatWasAddedByName) {
  EXPECT_EQ(schedules().find("cosine")(4), 5);
  EXPECT_EQ(schedules().find("constant")(4), 4);
}

TEST(Registry, ListsItsNamesSorted) {
  EXPECT_THAT(schedules().names(), ElementsAre("constant", "cosine"));
}

TEST(Registry, AnUnknownNameIsAUsageErrorThatNamesTheNearest) {
  try {
    schedules().find("cosin");
    FAIL() << "there is no such schedule";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("unknown schedule 'cosin'"), HasSubstr("'cosine'")));
  }
}

TEST(Registry, ANameCannotBeTakenTwice) {
  Registry<int(int)> registry = schedules();
  EXPECT_THROW(registry.add("cosine", [](int x) { return x; }), Error);
  EXPECT_EQ(registry.find("cosine")(4), 5);
}

}  // namespace
}  // namespace lockstep
