#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/example.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Merge, AssignsAFieldOfSeveralTablesInAllOfThem) {
  std::int64_t of_model = 10;
  std::int64_t of_data = 10;
  Configuration config;
  config.add("Model", {field("classes", of_model, "number of classes", at_least(2))});
  config.add("Data", {field("classes", of_data, "number of classes", at_least(2))});
  config.read({.arguments = {"--classes", "5"}});
  EXPECT_EQ(of_model, 5);
  EXPECT_EQ(of_data, 5);
  EXPECT_THAT(config.stored(), ElementsAre(Pair("classes", "5")));
}

TEST(Merge, LetsNoTableMissAValueThatItsFieldsDisagreeOn) {
  std::int64_t first = 1;
  std::int64_t second = 2;
  double other_kind = 1;
  bool one_switch = true;
  std::string text = "true";
  Configuration config;
  config.add("A", {field("x", first, "", at_least(0)), field("s", one_switch, "")});
  EXPECT_THROW(config.add("B", {field("x", second, "", at_least(0))}), Error);
  EXPECT_THROW(config.add("B", {field("x", other_kind, "", at_least(1))}), Error);
  EXPECT_THROW(config.add("B", {field("s", text, "")}), Error);
}

TEST(Merge, RefusesNamesThatCannotBeWritten) {
  for (const std::string name :
       {"", "Batch", "batch-size", "a b", "config", "help", "print_config"}) {
    std::int64_t variable = 0;
    Configuration config;
    EXPECT_THROW(config.add("A", {field(name, variable, "")}), Error) << name;
  }
}

TEST(Merge, RefusesANameThatIsTheNegativeFormOfASwitch) {
  bool fast = false;
  bool no_fast = false;
  Configuration config;
  config.add("A", {field("fast", fast, "")});
  EXPECT_THROW(config.add("A", {field("no_fast", no_fast, "")}), Error);
  Configuration reversed;
  reversed.add("A", {field("no_fast", no_fast, "")});
  EXPECT_THROW(reversed.add("A", {field("fast", fast, "")}), Error);
}

TEST(Precedence, RisesFromDefaultOverFilesAndEnvironmentToCommandLine) {
  TemporaryFolder folder;
  const std::string first = folder.write("first.ini", "batch_size=1\nlr=1\nrun_name=a\nuse_amp=on");
  const std::string second = folder.write("second.ini", "lr = 2\n[x]\nrun_name = b");
  Example example;
  // The command line wins wherever --config stands on it.
  example.config.read(
      {.arguments = {"--global_batch_size=4", "--config", first, "--config=" + second},
       .environment = {{"LOCKSTEP_RUN_NAME", "c"}, {"LOCKSTEP_GLOBAL_BATCH_SIZE", "3"}}});
  ASSERT_EQ(example.wrong(), "");
  EXPECT_TRUE(example.shuffle);
  EXPECT_EQ(example.batch_size, 1);
  EXPECT_EQ(example.lr, 2);
  EXPECT_EQ(example.run_name, "c");
  EXPECT_EQ(example.global_batch_size, 4);
  const Configuration& config = example.config;
  EXPECT_EQ(config.origin("shuffle"), "default");
  EXPECT_EQ(config.origin("batch_size"), first + ":1");
  EXPECT_EQ(config.origin("lr"), second + ":1");
  EXPECT_EQ(config.origin("run_name"), "environment variable LOCKSTEP_RUN_NAME");
  EXPECT_EQ(config.origin("global_batch_size"), "command line");
  EXPECT_THROW(config.origin("none"), Error);
}

TEST(Precedence, PutsALaterFileBeforeAnEarlierOne) {
  TemporaryFolder folder;
  const std::string one = folder.write("one.ini", "lr = 1");
  const std::string two = folder.write("two.ini", "lr = 2");
  Example example;
  example.read({"--config", two, "--config", one});
  EXPECT_EQ(example.lr, 1);
}

TEST(Files, AreFoundFromTheWorkingDirectory) {
  TemporaryFolder folder;
  folder.write("here.ini", "lr = 3");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Example example;
  example.read({"--config", "here.ini"});
  std::filesystem::current_path(before);
  EXPECT_EQ(example.wrong(), "");
  EXPECT_EQ(example.lr, 3);
  EXPECT_EQ(example.config.origin("lr"), "here.ini:1");
}

TEST(Files, ThatCannotBeReadAreNamed) {
  TemporaryFolder folder;
  Example example;
  example.read({"--config", "/nowhere/a.ini", "--config", folder.path(), "--config="});
  EXPECT_EQ(example.wrong(),
            "3 errors\n"
            "  command line: --config: cannot read '/nowhere/a.ini': No such file or directory\n"
            "  command line: --config: '" +
                folder.path() +
                "' is a directory\n"
                "  command line: --config: cannot read '': No such file or directory");
}

TEST(Files, IncludeOthersAndOverruleThem) {
  TemporaryFolder folder;
  folder.write("deep.ini", "lr = 1\nbatch_size = 1\noptimizer = adam");
  folder.write("base.ini", "include = deep.ini\nbatch_size = 2");
  const std::string file =
      folder.write("top.ini", "lr = 3\ninclude = base.ini  # wherever it stands");
  Example example;
  example.read({"--config", file});
  EXPECT_EQ(example.wrong(), "");
  EXPECT_EQ(example.lr, 3);
  EXPECT_EQ(example.batch_size, 2);
  EXPECT_EQ(example.optimizer, "adam");
  EXPECT_EQ(example.config.origin("batch_size"), folder.path() + "/base.ini:2");
}

TEST(Files, MayBeIncludedTwiceButNotByThemselves) {
  TemporaryFolder folder;
  folder.write("base.ini", "lr = 1");
  const std::string twice = folder.write("twice.ini", "include = base.ini\ninclude = base.ini");
  Example example;
  example.read({"--config", twice});
  EXPECT_EQ(example.wrong(), "");

  folder.write("b.ini", "include = a.ini");
  const std::string a = folder.write("a.ini", "include = b.ini\ninclude = none.ini");
  Example circle;
  circle.read({"--config", a});
  EXPECT_EQ(circle.wrong(), "2 errors\n  " + folder.path() + "/b.ini:1: include: '" +
                                folder.path() + "/a.ini' includes itself\n  " + folder.path() +
                                "/a.ini:2: include: cannot read '" + folder.path() +
                                "/none.ini': No such file or directory");
}

TEST(Errors, AreAllToldAtOnceEachWithItsOrigin) {
  TemporaryFolder folder;
  const std::string file =
      folder.write("a.ini", "# bad\nlr = fast\nbatch_size\n\n[Data]\nshufle = no\nuse_amp = 2\n");
  Example example;
  example.config.add_check([] { return std::vector<std::string>{"first check", "second thing"}; });
  example.config.add_check([] { return std::vector<std::string>{}; });
  example.config.read({.arguments = {"--optimizer=adan", "--config", file, "--batch_size", "0"},
                       .environment = {{"LOCKSTEP_LR", "-1"}}});
  EXPECT_EQ(example.wrong(),
            "9 errors\n"
            "  " +
                file +
                ":2: lr: 'fast' is not a number\n"
                "  " +
                file +
                ":3: expected name = value, found 'batch_size'\n"
                "  " +
                file +
                ":6: shufle: unknown setting; did you mean 'shuffle'?\n"
                "  " +
                file +
                ":7: use_amp: '2' is neither true nor false\n"
                "  environment variable LOCKSTEP_LR: '-1' is out of range; must be above 0\n"
                "  command line: --optimizer: unknown value 'adan'; did you mean 'adam'?\n"
                "  command line: --batch_size: '0' is out of range; must be at least 1\n"
                "  first check\n"
                "  second thing");
  EXPECT_EQ(example.batch_size, 64);
  EXPECT_EQ(example.lr, 0.1);
}

TEST(Checks, SeeTheAssignedValues) {
  Example example;
  example.config.add_check([&example]() -> std::vector<std::string> {
    if (example.global_batch_size && *example.global_batch_size < example.batch_size) {
      return {"global_batch_size is less than batch_size"};
    }
    return {};
  });
  EXPECT_EQ(example.wrong(), "");
  example.read({"--batch_size", "8", "--global_batch_size", "4"});
  EXPECT_EQ(example.wrong(), "1 error\n  global_batch_size is less than batch_size");
}

}  // namespace
}  // namespace lockstep
