#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/example.hpp"

namespace lockstep {
namespace {

TEST(Environment, SetsSettingsByTheirNameInCapitals) {
  Example example;
  example.config.read(
      {.environment = {{"LOCKSTEP_BATCH_SIZE", "32"}, {"LOCKSTEP_USE_AMP", "1"}, {"LR", "7"}}});
  EXPECT_EQ(example.wrong(), "");
  EXPECT_EQ(example.batch_size, 32);
  EXPECT_TRUE(example.use_amp);
  EXPECT_EQ(example.lr, 0.1);
  EXPECT_EQ(example.config.origin("batch_size"), "environment variable LOCKSTEP_BATCH_SIZE");
}

TEST(Environment, IsNotThatOfTheProcess) {
  setenv("LOCKSTEP_BATCH_SIZE", "32", 1);
  Example example;
  example.read({});
  unsetenv("LOCKSTEP_BATCH_SIZE");
  EXPECT_EQ(example.batch_size, 64);
}

TEST(Environment, NamesUnknownVariablesWithTheNearestSetting) {
  Example example;
  example.config.read({.environment = {{"LOCKSTEP_BATCHSIZE", "32"}, {"LOCKSTEP_LR", "0"}}});
  EXPECT_EQ(example.wrong(),
            "2 errors\n"
            "  environment variable LOCKSTEP_BATCHSIZE: unknown setting; did you mean "
            "'LOCKSTEP_BATCH_SIZE'?\n"
            "  environment variable LOCKSTEP_LR: '0' is out of range; must be above 0");
}

TEST(Environment, WantsCapitals) {
  Example example;
  example.config.read({.environment = {{"LOCKSTEP_lr", "0.5"}}});
  EXPECT_EQ(example.wrong(),
            "1 error\n  environment variable LOCKSTEP_lr: the name must be in upper case");
  EXPECT_EQ(example.lr, 0.1);
}

TEST(Environment, PassesOverVariablesKnownToBeNoSettings) {
  Example example;
  example.config.read({.environment = {{"LOCKSTEP_CACHE_DIR", "/tmp"}, {"PATH", "/bin"}},
                       .other_variables = {"LOCKSTEP_CACHE_DIR"}});
  EXPECT_EQ(example.wrong(), "");
}

}  // namespace
}  // namespace lockstep
