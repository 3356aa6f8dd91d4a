#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/example.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;

TEST(CommandLine, TakesEachFormOfAValue) {
  const std::vector<std::vector<std::string>> forms{
      {"--batch_size", "128"}, {"--batch_size=128"}, {"--batch-size", "128"}, {"--batch-size=128"}};
  for (const auto& arguments : forms) {
    Example example;
    example.read(arguments);
    EXPECT_EQ(example.wrong(), "") << arguments.front();
    EXPECT_EQ(example.batch_size, 128) << arguments.front();
  }
}

TEST(CommandLine, TurnsSwitchesOn) {
  const std::vector<std::vector<std::string>> forms{
      {"--use_amp"}, {"--use-amp"}, {"--use_amp=true"}, {"--use-amp", "yes"}};
  for (const auto& arguments : forms) {
    Example example;
    example.read(arguments);
    EXPECT_EQ(example.wrong(), "") << arguments.front();
    EXPECT_TRUE(example.use_amp) << arguments.front();
  }
}

TEST(CommandLine, TurnsSwitchesOff) {
  const std::vector<std::vector<std::string>> forms{
      {"--shuffle=false"}, {"--shuffle", "false"}, {"--no-shuffle"}, {"--no_shuffle"}};
  for (const auto& arguments : forms) {
    Example example;
    example.read(arguments);
    EXPECT_EQ(example.wrong(), "") << arguments.front();
    EXPECT_FALSE(example.shuffle) << arguments.front();
  }
}

TEST(CommandLine, LeavesTheOptionBehindASwitchAlone) {
  Example example;
  example.read({"--use_amp", "--lr", "0.5", "--no-shuffle", "--batch_size", "2"});
  EXPECT_EQ(example.wrong(), "");
  EXPECT_TRUE(example.use_amp);
  EXPECT_FALSE(example.shuffle);
  EXPECT_EQ(example.lr, 0.5);
  EXPECT_EQ(example.batch_size, 2);
}

TEST(CommandLine, TakesNegativeNumbersAsValues) {
  double shift = 0;
  std::int64_t offset = 0;
  Configuration config;
  config.add("Data", {field("shift", shift, ""), field("offset", offset, "")});
  config.read({.arguments = {"--shift", "-1.5e-3", "--offset", "-7"}});
  EXPECT_NO_THROW(config.validate());
  EXPECT_EQ(shift, -1.5e-3);
  EXPECT_EQ(offset, -7);
}

TEST(CommandLine, KeepsDashesEqualsSignsAndBlanksWithinValues) {
  Example example;
  example.read({"--run_name=a-b=c d"});
  EXPECT_EQ(example.run_name, "a-b=c d");
}

TEST(CommandLine, EmptiesATextByAnEmptyValue) {
  Example example;
  example.read({"--run_name="});
  EXPECT_EQ(example.wrong(), "");
  EXPECT_EQ(example.run_name, "");
}

TEST(CommandLine, TakesTheLastOfRepeatedOptions) {
  Example example;
  example.read({"--batch_size", "8", "--lr", "1", "--batch-size=16"});
  EXPECT_EQ(example.wrong(), "");
  EXPECT_EQ(example.batch_size, 16);
}

TEST(CommandLine, NeverGuessesFromTheBeginningOfAName) {
  Example example;
  example.read({"--batch", "8"});
  EXPECT_THAT(example.wrong(), HasSubstr("command line: --batch: unknown setting"));
  EXPECT_EQ(example.batch_size, 64);
}

TEST(CommandLine, NamesTheOptionNearestToAnUnknownOne) {
  Example example;
  example.read({"--bacth-size", "8", "--no-shufle", "--confg=a.ini"});
  EXPECT_EQ(example.wrong(),
            "3 errors\n"
            "  command line: --bacth-size: unknown setting; did you mean '--batch_size'?\n"
            "  command line: --no-shufle: unknown setting; did you mean '--no_shuffle'?\n"
            "  command line: --confg: unknown setting; did you mean '--config'?");
}

TEST(CommandLine, ReadsOnBehindAnUnknownOptionAndItsValue) {
  Example example;
  example.read({"--weight_decai", "8", "--batch_size", "16"});
  EXPECT_THAT(example.wrong(), HasSubstr("1 error\n"));
  EXPECT_EQ(example.batch_size, 16);
  example.read({"--weight_decai=8", "stray"});
  EXPECT_THAT(example.wrong(), HasSubstr("stray: unexpected argument"));
}

TEST(CommandLine, SaysWhichOptionNeedsAValue) {
  Example example;
  example.read({"--batch_size", "--lr", "0.5", "--run_name"});
  EXPECT_EQ(example.wrong(),
            "2 errors\n"
            "  command line: --batch_size: needs a value\n"
            "  command line: --run_name: needs a value");
  EXPECT_EQ(example.lr, 0.5);
}

TEST(CommandLine, RefusesAValueForTheNegativeFormOfASwitch) {
  Example example;
  example.read({"--no-shuffle=false"});
  EXPECT_EQ(example.wrong(),
            "1 error\n  command line: --no-shuffle: takes no value, but got 'false'");
  EXPECT_TRUE(example.shuffle);
}

TEST(CommandLine, KnowsANegativeFormOfSwitchesOnly) {
  Example example;
  example.read({"--no-batch_size"});
  EXPECT_THAT(example.wrong(), HasSubstr("--no-batch_size: unknown setting"));
}

TEST(CommandLine, StopsAtTheFirstArgumentThatBelongsToNoOption) {
  Example example;
  example.read({"--batch_size", "8", "stray", "other", "--lr", "0.5"});
  EXPECT_THAT(example.wrong(), HasSubstr("1 error\n  command line: stray: unexpected argument"));
  EXPECT_EQ(example.batch_size, 8);
  EXPECT_EQ(example.lr, 0.1);
}

TEST(CommandLine, NamesArgumentsBehindATerminatorAsUnexpected) {
  Example example;
  example.read({"--run_name", "--", "--lr"});
  EXPECT_THAT(example.wrong(), HasSubstr("--run_name: needs a value"));
  EXPECT_THAT(example.wrong(), HasSubstr("--lr: unexpected argument"));
}

TEST(CommandLine, TellsThatOptionsBeginWithTwoDashes) {
  Example example;
  example.read({"-batch_size", "8"});
  EXPECT_THAT(example.wrong(),
              HasSubstr("-batch_size: unexpected argument; options begin with two dashes"));
}

TEST(CommandLine, AnswersARequestForHelpWhateverElseIsWrong) {
  for (const std::string help : {"--help", "-h"}) {
    Example example;
    const Requests requests = example.read({"stray", "--batch_size", "no", "--lr=2", help});
    EXPECT_TRUE(requests.help);
    EXPECT_EQ(example.wrong(), "");
    EXPECT_EQ(example.lr, 0.1);
  }
}

TEST(CommandLine, AsksToPrintTheConfigurationOnceItIsRead) {
  Example example;
  EXPECT_FALSE(example.read({"--lr=2"}).print_config);
  const Requests requests = example.read({"--print-config", "--lr=3"});
  EXPECT_TRUE(requests.print_config);
  EXPECT_FALSE(requests.help);
  EXPECT_EQ(example.lr, 3);
}

}  // namespace
}  // namespace lockstep
