#include "lockstep/base/field.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(Field, HoldsNameHelpRangeAndTheDefaultItWasMadeWith) {
  std::int64_t batch_size = 64;
  const Field entry = field("batch_size", batch_size, "samples a rank", at_least(1));
  EXPECT_EQ(entry.name(), "batch_size");
  EXPECT_EQ(entry.help(), "samples a rank");
  EXPECT_EQ(entry.range(), "at least 1");
  EXPECT_FALSE(entry.is_switch());
  EXPECT_EQ(entry.assign("128"), std::nullopt);
  EXPECT_EQ(batch_size, 128);
  EXPECT_EQ(entry.text(), "128");
  EXPECT_EQ(entry.default_text(), "64");
}

TEST(Field, AWholeNumberTakesNothingElse) {
  std::int64_t value = 1;
  const Field entry = field("value", value, "");
  for (const char* text : {"", "x", "1.5", "1e3", "0x10", "12 13", "12a", "+-5", "--5"}) {
    EXPECT_THAT(entry.assign(text), Optional(HasSubstr("is not a whole number"))) << text;
    EXPECT_EQ(value, 1) << text;
  }
  EXPECT_THAT(entry.assign("9223372036854775808"), Optional(HasSubstr("'9223372036854775808'")));
  EXPECT_EQ(entry.assign("9223372036854775807"), std::nullopt);
  EXPECT_EQ(value, 9'223'372'036'854'775'807);
  EXPECT_EQ(entry.assign(" +7 "), std::nullopt);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(entry.assign("-3"), std::nullopt);
  EXPECT_EQ(value, -3);
}

TEST(Field, ANumberIsStoredInTheShortestTextThatReadsBackEqual) {
  double lr = 0.1;
  const Field entry = field("lr", lr, "", above(0));
  EXPECT_EQ(entry.default_text(), "0.1");
  EXPECT_EQ(entry.assign("1e-3"), std::nullopt);
  EXPECT_DOUBLE_EQ(lr, 0.001);
  EXPECT_EQ(entry.text(), "0.001");
  lr = 1.0 / 3.0;
  const std::string stored = entry.text();
  lr = 0;
  EXPECT_EQ(entry.assign(stored), std::nullopt);
  EXPECT_EQ(lr, 1.0 / 3.0);
}

TEST(Field, ANumberOutOfRangeIsRefusedWithTheRangeAndLeavesTheVariable) {
  double lr = 0.1;
  const Field positive = field("lr", lr, "", above(0));
  EXPECT_THAT(positive.assign("0"), Optional(HasSubstr("must be above 0")));
  EXPECT_THAT(positive.assign("nan"), Optional(HasSubstr("out of range")));
  const Field fraction = field("fraction", lr, "", between(0, 1));
  EXPECT_THAT(fraction.assign("1.5"), Optional(HasSubstr("must be at least 0 and at most 1")));
  EXPECT_EQ(fraction.assign("0"), std::nullopt);
  EXPECT_EQ(fraction.assign("1"), std::nullopt);
  lr = 0.25;
  const Field momentum = field("momentum", lr, "", from_up_to(0, 1));
  EXPECT_THAT(momentum.assign("1"), Optional(HasSubstr("must be at least 0 and below 1")));
  EXPECT_EQ(momentum.assign("0"), std::nullopt);
  EXPECT_EQ(lr, 0);
}

TEST(Field, ANumberWithoutARangeMayBeInfiniteButNotNaN) {
  double value = 0;
  const Field entry = field("value", value, "");
  EXPECT_EQ(entry.range(), "");
  EXPECT_EQ(entry.assign("inf"), std::nullopt);
  EXPECT_TRUE(std::isinf(value));
  EXPECT_THAT(entry.assign("nan"), Optional(HasSubstr("must be a number")));
}

TEST(Field, ASwitchTakesTheUsualWordsInAnyCase) {
  bool use_amp = false;
  const Field entry = field("use_amp", use_amp, "");
  EXPECT_TRUE(entry.is_switch());
  EXPECT_EQ(entry.default_text(), "false");
  for (const char* yes : {"true", "Yes", "ON", "1"}) {
    use_amp = false;
    EXPECT_EQ(entry.assign(yes), std::nullopt);
    EXPECT_TRUE(use_amp) << yes;
  }
  for (const char* no : {"false", "No", "off", "0"}) {
    use_amp = true;
    EXPECT_EQ(entry.assign(no), std::nullopt);
    EXPECT_FALSE(use_amp) << no;
  }
  EXPECT_THAT(entry.assign("2"), Optional(std::string("'2' is neither true nor false")));
}

TEST(Field, AChoiceNamesTheNearestOfItsChoices) {
  std::string norm = "batch";
  const Field entry = field("norm", norm, "", {"batch", "group"});
  EXPECT_EQ(entry.range(), "batch | group");
  EXPECT_EQ(entry.assign("group"), std::nullopt);
  EXPECT_EQ(norm, "group");
  EXPECT_THAT(entry.assign("bacth"), Optional(HasSubstr("did you mean 'batch'")));
  EXPECT_EQ(norm, "group");
}

TEST(Field, ATextWithoutChoicesTakesAnythingAndLosesOuterBlanks) {
  std::string path;
  const Field entry = field("path", path, "");
  EXPECT_EQ(entry.assign("  a dir/x "), std::nullopt);
  EXPECT_EQ(path, "a dir/x");
  EXPECT_EQ(entry.assign(""), std::nullopt);
  EXPECT_EQ(path, "");
}

TEST(Field, ANumberThatMayBeUnsetIsAutoThen) {
  std::optional<std::int64_t> threads;
  const Field entry = field("threads", threads, "", at_least(1));
  EXPECT_EQ(entry.default_text(), "auto");
  EXPECT_EQ(entry.assign("4"), std::nullopt);
  EXPECT_EQ(threads, 4);
  EXPECT_EQ(entry.text(), "4");
  EXPECT_THAT(entry.assign("0"), Optional(HasSubstr("at least 1")));
  EXPECT_EQ(threads, 4);
  EXPECT_EQ(entry.assign("auto"), std::nullopt);
  EXPECT_EQ(threads, std::nullopt);
}

}  // namespace
}  // namespace lockstep
