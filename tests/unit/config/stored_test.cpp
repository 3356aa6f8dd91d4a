#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/example.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Stored, HoldsEachSettingInTheOrderOfTheTables) {
  Example example;
  example.read({"--lr=1e-4", "--run_name", "a b", "--use_amp"});
  EXPECT_THAT(example.config.stored(),
              ElementsAre(Pair("batch_size", "64"), Pair("global_batch_size", "auto"),
                          Pair("use_amp", "true"), Pair("run_name", "a b"),
                          Pair("optimizer", "sgd"), Pair("lr", "1e-04"), Pair("shuffle", "true")));
}

TEST(IniText, ReadsBackToTheSameValues) {
  for (const double lr : {0.1, 1e-4, 1.0 / 3.0, 5e-324, 1.7976931348623157e308}) {
    for (const std::string name : {"", "two words", "run #7; final", "\"quoted\"", "back\\slash"}) {
      Example written;
      written.lr = lr;
      written.run_name = name;
      written.batch_size = 9007199254740993;  // no double holds it
      written.global_batch_size = 12;
      written.shuffle = false;
      TemporaryFolder folder;
      Example read;
      read.read({"--config", folder.write("config.ini", written.config.ini_text())});
      EXPECT_EQ(read.wrong(), "");
      EXPECT_EQ(read.lr, lr);
      EXPECT_EQ(read.run_name, name);
      EXPECT_EQ(read.batch_size, 9007199254740993);
      EXPECT_EQ(read.global_batch_size, 12);
      EXPECT_FALSE(read.shuffle);
      EXPECT_EQ(read.config.stored(), written.config.stored());
    }
  }
}

TEST(IniText, UnsetsWhatWasUnset) {
  Example written;
  TemporaryFolder folder;
  const std::string set = folder.write("set.ini", "global_batch_size = 5");
  const std::string unset = folder.write("unset.ini", written.config.ini_text());
  Example read;
  read.read({"--config", set, "--config", unset});
  EXPECT_EQ(read.global_batch_size, std::nullopt);
}

TEST(ApplyStored, FillsWhatNoStrongerSourceSets) {
  Example example;
  example.read({"--batch_size", "8"});
  const auto unknown = example.config.apply_stored(
      {{"batch_size", "16"}, {"lr", "0.25"}, {"shuffle", "false"}}, "step_7.h5");
  EXPECT_THAT(unknown, IsEmpty());
  EXPECT_EQ(example.wrong(), "");
  EXPECT_EQ(example.batch_size, 8);
  EXPECT_EQ(example.lr, 0.25);
  EXPECT_FALSE(example.shuffle);
  EXPECT_EQ(example.config.origin("batch_size"), "command line");
  EXPECT_EQ(example.config.origin("lr"), "step_7.h5");
  EXPECT_EQ(example.config.origin("run_name"), "default");
}

TEST(ApplyStored, GivesWayToWhatIsReadLater) {
  Example example;
  EXPECT_EQ(example.config.apply_stored({{"batch_size", "16"}, {"lr", "0.25"}}, "step_7.h5").size(),
            0U);
  example.read({"--batch_size", "8"});
  EXPECT_EQ(example.batch_size, 8);
  EXPECT_EQ(example.lr, 0.25);
}

TEST(ApplyStored, ReturnsNamesThatAreUnknownNow) {
  Example example;
  const auto unknown =
      example.config.apply_stored({{"old", "1"}, {"lr", "0.25"}, {"older", "2"}}, "step_7.h5");
  EXPECT_THAT(unknown, ElementsAre("old", "older"));
  EXPECT_EQ(example.wrong(), "");
  EXPECT_EQ(example.lr, 0.25);
}

TEST(ApplyStored, ReportsValuesThatAreBadNow) {
  Example example;
  example.read({"--batch_size", "0"});
  EXPECT_EQ(example.config.apply_stored({{"lr", "-1"}}, "step_7.h5").size(), 0U);
  EXPECT_EQ(example.wrong(),
            "2 errors\n"
            "  command line: --batch_size: '0' is out of range; must be at least 1\n"
            "  step_7.h5: lr: '-1' is out of range; must be above 0");
}

}  // namespace
}  // namespace lockstep
