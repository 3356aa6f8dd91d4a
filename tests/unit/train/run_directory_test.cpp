#include "lockstep/train/run_directory.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

class RunDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("lockstep_run_directory_" + std::to_string(getpid()));
    std::filesystem::remove_all(path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  std::filesystem::path path_;
};

TEST_F(RunDirectoryTest, HoldsARunOnceAnythingOfOneIsThere) {
  const RunDirectory directory(path_);
  EXPECT_FALSE(directory.holds_run());
  std::filesystem::create_directories(path_);
  std::ofstream(path_ / "notes.md") << "mine";
  EXPECT_FALSE(directory.holds_run());
  std::ofstream(directory.metrics()) << "";
  EXPECT_TRUE(directory.holds_run());
}

TEST_F(RunDirectoryTest, HoldsNoRunWhenItHasJustBeenMade) {
  const RunDirectory directory(path_);
  directory.create();
  EXPECT_TRUE(std::filesystem::is_directory(directory.checkpoints()));
  EXPECT_FALSE(directory.holds_run());
  std::ofstream(directory.checkpoints() / "step_000000000001.h5.tmp") << "";
  EXPECT_TRUE(directory.holds_run());
}

TEST_F(RunDirectoryTest, RemovesARunAndNothingElse) {
  const RunDirectory directory(path_);
  directory.create();
  std::ofstream(directory.checkpoints() / "step_000000000001.h5") << "";
  std::ofstream(path_ / "notes.md") << "mine";
  directory.remove_run();
  EXPECT_FALSE(directory.holds_run());
  EXPECT_TRUE(std::filesystem::exists(path_ / "notes.md"));
}

TEST_F(RunDirectoryTest, KnowsCheckpointsElsewhereAndRemovesThemAlone) {
  const std::filesystem::path elsewhere = path_ / "elsewhere";
  const RunDirectory directory(path_ / "run", elsewhere);
  directory.create();
  std::filesystem::remove_all(path_ / "run");
  EXPECT_FALSE(directory.holds_run());
  std::ofstream(elsewhere / "step_000000000001.h5") << "";
  std::ofstream(elsewhere / "notes.md") << "mine";
  EXPECT_TRUE(directory.holds_run());
  directory.remove_run();
  EXPECT_FALSE(directory.holds_run());
  EXPECT_TRUE(std::filesystem::exists(elsewhere / "notes.md"));
}

TEST_F(RunDirectoryTest, KnowsWhatRemovingARunWouldRemove) {
  const std::filesystem::path elsewhere = path_ / "elsewhere";
  const RunDirectory directory(path_ / "run", elsewhere);
  directory.create();
  std::filesystem::create_directories(path_ / "run" / "checkpoints");
  const auto touched = [](const std::filesystem::path& path) {
    std::ofstream(path) << "";
    return path;
  };
  const auto gone = {touched(elsewhere / "step_000000000001.h5"),
                     touched(path_ / "run" / "checkpoints" / "step_000000000002.h5"),
                     touched(path_ / "run" / "checkpoints" / "mine.h5"),
                     touched(directory.metrics())};
  const auto kept = {touched(elsewhere / "mine.h5"), touched(path_ / "run" / "checkpoints.h5"),
                     touched(path_ / "step_000000000001.h5")};
  std::filesystem::create_directory_symlink(path_ / "run", path_ / "link");
  EXPECT_TRUE(directory.would_remove(path_ / "link" / "checkpoints" / "mine.h5"));
  for (const auto& path : gone) EXPECT_TRUE(directory.would_remove(path)) << path;
  for (const auto& path : kept) EXPECT_FALSE(directory.would_remove(path)) << path;
  directory.remove_run();
  for (const auto& path : gone) EXPECT_FALSE(std::filesystem::exists(path)) << path;
  for (const auto& path : kept) EXPECT_TRUE(std::filesystem::exists(path)) << path;
}

TEST(StopNote, IsJsonForJobScripts) {
  const auto json = nlohmann::json::parse(json_text({"SIG\"TERM", 12, true}));
  EXPECT_EQ(json["reason"], "SIG\"TERM");
  EXPECT_EQ(json["step"], 12);
  EXPECT_EQ(json["restart"], true);
}

}  // namespace
}  // namespace lockstep
