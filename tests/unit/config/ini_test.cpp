#include "config/ini.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::HasSubstr;

/// The value of the only line `x = <text>`.
std::string value_of(const std::string& text) {
  const SettingLayer layer = read_ini("x = " + text, "f");
  if (layer.size() != 1 || !layer[0].problem.empty()) return "not one good entry";
  return layer[0].value;
}

std::string problem_of(const std::string& text) {
  const SettingLayer layer = read_ini(text, "f");
  return layer.empty() ? "" : layer.back().problem;
}

TEST(Ini, ReadsNamesValuesAndLines) {
  const SettingLayer layer =
      read_ini("# head\r\n\r\n[Training]  ; section\nbatch-size = 8\n lr=0.5\r\n;end", "train.ini");
  ASSERT_EQ(layer.size(), 2U);
  EXPECT_EQ(layer[0].name, "batch_size");
  EXPECT_EQ(layer[0].value, "8");
  EXPECT_EQ(layer[0].origin, "train.ini:4");
  EXPECT_EQ(layer[0].place, "train.ini:4: batch-size");
  EXPECT_EQ(layer[1].name, "lr");
  EXPECT_EQ(layer[1].value, "0.5");
  EXPECT_EQ(layer[1].origin, "train.ini:5");
}

TEST(Ini, EndsValuesAtCommentsThatStandApart) {
  EXPECT_EQ(value_of("a b   # note"), "a b");
  EXPECT_EQ(value_of("a\t; note"), "a");
  EXPECT_EQ(value_of("a#1;2"), "a#1;2");
  EXPECT_EQ(value_of("# note"), "");
  EXPECT_EQ(value_of(""), "");
  EXPECT_EQ(read_ini("x =# note", "f").at(0).value, "");
  EXPECT_EQ(value_of("a = b"), "a = b");
}

TEST(Ini, ReadsQuotedValues) {
  EXPECT_EQ(value_of(R"("  a # b ; c "  # note)"), "  a # b ; c ");
  EXPECT_EQ(value_of(R"("say \"x\" \\ \n\t\r")"), "say \"x\" \\ \n\t\r");
  EXPECT_EQ(value_of(R"("")"), "");
  EXPECT_EQ(value_of(R"(a "b")"), R"(a "b")");
}

TEST(Ini, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(problem_of("batch_size 8"), "expected name = value, found 'batch_size 8'");
  EXPECT_EQ(problem_of("= 8"), "expected name = value, found '= 8'");
  EXPECT_EQ(problem_of("[Training"), "expected [section], found '[Training'");
  EXPECT_EQ(problem_of("[Training] x = 1"), "expected [section], found '[Training] x = 1'");
  EXPECT_EQ(problem_of(R"(x = "a)"), "the closing quote is missing");
  EXPECT_EQ(problem_of(R"(x = "a" b)"), "there is text behind the closing quote");
  EXPECT_THAT(problem_of(R"(x = "a\q")"), HasSubstr("must be followed by one of"));
  EXPECT_THAT(problem_of(R"(x = "a\)"), HasSubstr("must be followed by one of"));
}

TEST(Ini, RefusesANameThatWasSetBefore) {
  EXPECT_EQ(problem_of("x = 1\n[b]\nx = 2"), "already set at f:1");
}

TEST(Ini, QuotesOnlyWhereTheValueNeedsIt) {
  EXPECT_EQ(ini_value("0.1"), "0.1");
  EXPECT_EQ(ini_value("two words"), "two words");
  EXPECT_EQ(ini_value(""), "");
  EXPECT_EQ(ini_value("a#b"), R"("a#b")");
  EXPECT_EQ(ini_value(" a"), R"(" a")");
  EXPECT_EQ(ini_value("\"a\"\n\\;"), R"("\"a\"\n\\;")");
}

TEST(Ini, ReadsBackWhatItWrites) {
  for (const std::string value : {"", "a", "a b", " a ", "a # b", ";", "\"", "\"a\"", "\\", "a\\b",
                                  "\\n;", "a\nb\r\tc", "x = y", "[x]", "\xC3\xA4 \xE6\x97\xA5"}) {
    EXPECT_EQ(value_of(ini_value(value) + "   # note"), value);
  }
}

}  // namespace
}  // namespace lockstep
