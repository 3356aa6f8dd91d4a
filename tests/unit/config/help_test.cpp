#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/example.hpp"

namespace lockstep {
namespace {

TEST(Help, ShowsGroupsAlignedWithRangesAndDefaults) {
  Example example;
  EXPECT_THAT(
      example.config.help_text(),
      testing::StartsWith(
          "Training\n"
          "  --batch_size         samples a rank takes at a time (at least 1; default: 64)\n"
          "  --global_batch_size  samples a step (at least 1; default: auto)\n"
          "  --[no-]use_amp       compute in bfloat16 where that is safe (default: off)\n"
          "  --run_name           name of the run (default: first)\n"
          "\n"
          "Optimizer\n"
          "  --optimizer          how weights move (sgd | adam; default: sgd)\n"
          "  --lr                 learning rate (above 0; default: 0.1)\n"
          "\n"
          "Data\n"
          "  --[no-]shuffle       draw a new order each epoch (default: on)\n"
          "\n"
          "Configuration\n"
          "  --config FILE "));
}

TEST(Help, ShowsAChoiceWithOneGroupInFront) {
  Example example;
  const auto shows = [](std::string_view group, std::string_view name) {
    return group == "Data" || name == "batch_size";
  };
  EXPECT_THAT(example.config.help_text({.first_group = "Data", .shows = shows}),
              testing::StartsWith(
                  "Data\n"
                  "  --[no-]shuffle  draw a new order each epoch (default: on)\n"
                  "\n"
                  "Training\n"
                  "  --batch_size    samples a rank takes at a time (at least 1; default: 64)\n"
                  "\n"
                  "Configuration\n"));
}

TEST(Help, ShowsDefaultsWhateverWasAssigned) {
  Example example;
  const std::string before = example.config.help_text();
  example.read({"--lr=3", "--use_amp"});
  EXPECT_EQ(example.config.help_text(), before);
}

TEST(Help, WrapsAt100ColumnsUnderTheDescription) {
  std::int64_t x = 0;
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word ";
  Configuration config;
  config.add("A", {field("x", x, words)});
  std::istringstream lines(config.help_text());
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  // 18 columns in front, then 16 words of 4 columns with 15 blanks; one more needs 102 columns.
  EXPECT_EQ(line.size(), 18U + 79U);
  std::getline(lines, line);
  EXPECT_THAT(line, testing::StartsWith(std::string(18, ' ') + "word"));
  while (std::getline(lines, line)) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Help, GivesALongOptionALineOfItsOwn) {
  std::int64_t x = 0;
  const std::string name = "a_setting_with_a_name_of_many_words";
  Configuration config;
  config.add("A", {field(name, x, "what it does")});
  EXPECT_THAT(config.help_text(),
              testing::StartsWith("A\n  --" + name + "\n" + std::string(18, ' ') +
                                  "what it does (default: 0)\n"));
}

TEST(Help, ShowsASettingOfSeveralTablesOnceWhereItCameFirst) {
  std::int64_t a = 10;
  std::int64_t b = 10;
  std::string empty;
  Configuration config;
  config.add("Model", {field("classes", a, "number of classes")});
  config.add("Data", {field("classes", b, "number of classes"), field("path", empty, "data")});
  EXPECT_THAT(config.help_text(),
              testing::StartsWith("Model\n"
                                  "  --classes       number of classes (default: 10)\n"
                                  "\n"
                                  "Data\n"
                                  "  --path          data (default: none)\n"));
}

}  // namespace
}  // namespace lockstep
