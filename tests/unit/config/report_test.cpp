#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/example.hpp"

namespace lockstep {
namespace {

TEST(OriginsText, ShowsEachValueWithItsOrigin) {
  Example example;
  example.config.read({.arguments = {"--lr", "0.5", "--run_name", "a # b"},
                       .environment = {{"LOCKSTEP_USE_AMP", "1"}}});
  EXPECT_EQ(example.config.origins_text(),
            "[Training]\n"
            "batch_size        = 64        # default\n"
            "global_batch_size = auto      # default\n"
            "use_amp           = true      # environment variable LOCKSTEP_USE_AMP\n"
            "run_name          = \"a # b\"   # command line\n"
            "\n"
            "[Optimizer]\n"
            "optimizer         = sgd       # default\n"
            "lr                = 0.5       # command line\n"
            "\n"
            "[Data]\n"
            "shuffle           = true      # default\n");
}

TEST(OriginsText, ReadsBackToTheSameValues) {
  Example written;
  written.read({"--lr", "0.5", "--run_name", "a # b", "--no-shuffle"});
  TemporaryFolder folder;
  Example read;
  read.read({"--config", folder.write("a.ini", written.config.origins_text())});
  EXPECT_EQ(read.wrong(), "");
  EXPECT_EQ(read.config.stored(), written.config.stored());
}

TEST(OriginsText, LetsOneLongValueNotMoveTheCommentsOfAll) {
  Example example;
  example.read({"--run_name", std::string(60, 'x')});
  const std::string text = example.config.origins_text();
  EXPECT_THAT(text, testing::HasSubstr("batch_size        = 64      # default\n"));
  EXPECT_THAT(text, testing::HasSubstr("= " + std::string(60, 'x') + "   # command line\n"));
}

TEST(IniText, IsOrderedInSectionsByGroup) {
  Example example;
  std::int64_t epochs = 3;
  example.config.add("Training", {field("epochs", epochs, "")});
  EXPECT_EQ(example.config.ini_text(),
            "[Training]\n"
            "batch_size = 64\n"
            "global_batch_size = auto\n"
            "use_amp = false\n"
            "run_name = first\n"
            "epochs = 3\n"
            "\n"
            "[Optimizer]\n"
            "optimizer = sgd\n"
            "lr = 0.1\n"
            "\n"
            "[Data]\n"
            "shuffle = true\n");
}

}  // namespace
}  // namespace lockstep
