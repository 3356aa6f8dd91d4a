#include "lockstep/base/error.hpp"

#include <cerrno>
#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/narrow.hpp"

namespace lockstep {
namespace {

TEST(Error, SaysWhatWasAttemptedWhyItFailedAndWhatToTry) {
  const Error error("open data.h5", "No such file or directory", "--data_dir");
  EXPECT_STREQ(error.what(), "open data.h5: No such file or directory\n  try: --data_dir");
  EXPECT_EQ(error.attempted(), "open data.h5");
  EXPECT_EQ(error.reason(), "No such file or directory");
  EXPECT_EQ(error.remedy(), "--data_dir");
}

TEST(Error, LeavesOutWhatIsNotGiven) {
  EXPECT_STREQ(Error("start").what(), "start");
  EXPECT_STREQ(Error("start", "too late").what(), "start: too late");
  EXPECT_STREQ(Error("start", "", "later").what(), "start\n  try: later");
}

TEST(Check, ThrowsOnlyWhereTheConditionFails) {
  EXPECT_NO_THROW(check(true, "count", "negative"));
  try {
    check(false, "count", "negative");
    FAIL() << "the condition failed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "count: negative");
  }
}

TEST(ErrnoText, IsTheSystemsText) {
  EXPECT_EQ(errno_text(ENOENT), "No such file or directory");
}

TEST(Narrow, KeepsAValueThatFitsAndRefusesOneThatDoesNot) {
  EXPECT_EQ(narrow<int>(std::int64_t{-5}), -5);
  EXPECT_EQ(narrow<std::uint8_t>(255), 255);
  EXPECT_THROW(narrow<std::uint8_t>(256), Error);
  EXPECT_THROW(narrow<std::size_t>(-1), Error);
  EXPECT_THROW(narrow<int>(std::int64_t{1} << 31), Error);
  EXPECT_THROW(narrow<std::int64_t>(std::numeric_limits<std::uint64_t>::max()), Error);
}

TEST(Narrow, NamesTheValue) {
  try {
    narrow<int>(std::int64_t{3'000'000'000});
    FAIL() << "the value does not fit";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("3000000000"));
  }
}

}  // namespace
}  // namespace lockstep
