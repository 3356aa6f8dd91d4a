#include "lockstep/io/checkpoint_store.hpp"

#include <gmock/gmock.h>

#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/sealed_file.hpp"

#include "unit/io/shared_directory.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckpointStoreTest : public SharedDirectoryTest {
 protected:
  CheckpointStoreTest() : store_(directory() / "checkpoints") { store_.prepare(comm()); }

  void write(std::int64_t step) {
    const Content content{
        .arrays = {{"/sampler/step", DType::int64, {}, &step}}, .attributes = {}, .groups = {}};
    write_checkpoint(store_.path(step), content, comm());
  }
  void cut_short(std::int64_t step) {
    on_rank_0([&] { std::filesystem::resize_file(store_.path(step), 600); });
  }
  std::vector<std::int64_t> steps() {
    std::vector<std::int64_t> steps;
    for (const CheckpointEntry& entry : store_.list()) steps.push_back(entry.step);
    comm().barrier("test");
    return steps;
  }

  CheckpointStore store_;
};

TEST_F(CheckpointStoreTest, NamesSortAsStepsDo) {
  EXPECT_EQ(store_.path(12).filename(), "step_000000000012.h5");
  EXPECT_EQ(store_.path(1234567890123).filename(), "step_1234567890123.h5");
}

TEST_F(CheckpointStoreTest, ListsByStepAndSkipsWhatIsNotACheckpointsName) {
  write(200);
  write(30);
  on_rank_0([&] {
    for (const char* name : {"step_12.h5", "step_000000000012.h5.bak", "step_00000000001x.h5",
                             "other.h5", "step_.h5", "step_-00000000012.h5"}) {
      put_content(store_.directory() / name, "x");
    }
  });
  EXPECT_THAT(steps(), ElementsAre(30, 200));
}

TEST_F(CheckpointStoreTest, AMissingDirectoryHoldsNothing) {
  const CheckpointStore nowhere(directory() / "none");
  EXPECT_TRUE(nowhere.list().empty());
  const NewestCheckpoint newest = nowhere.newest_valid(comm());
  EXPECT_FALSE(newest.entry.has_value());
  EXPECT_THAT(newest.skipped, IsEmpty());
}

TEST_F(CheckpointStoreTest, FindsTheNewest) {
  write(30);
  write(200);
  const NewestCheckpoint newest = store_.newest_valid(comm());
  ASSERT_TRUE(newest.entry.has_value());
  EXPECT_EQ(newest.entry->step, 200);
  EXPECT_EQ(newest.entry->path, store_.path(200));
  EXPECT_THAT(newest.skipped, IsEmpty());
}

TEST_F(CheckpointStoreTest, FallsBackPastOnesThatAreNoGoodAndNamesThem) {
  for (const std::int64_t step : {10, 20, 30, 40}) write(step);
  cut_short(30);
  on_rank_0([&] { put_content(store_.path(40), ""); });
  const NewestCheckpoint newest = store_.newest_valid(comm());
  ASSERT_TRUE(newest.entry.has_value());
  EXPECT_EQ(newest.entry->step, 20);
  ASSERT_EQ(newest.skipped.size(), 2U);
  EXPECT_EQ(newest.skipped[0].path, store_.path(40));
  EXPECT_THAT(newest.skipped[0].reason, HasSubstr("mark of a finished file"));
  EXPECT_EQ(newest.skipped[1].path, store_.path(30));
  EXPECT_THAT(newest.skipped[1].reason, HasSubstr("truncated: 600 of "));
}

TEST_F(CheckpointStoreTest, WhereNoneIsGoodAllAreNamed) {
  write(10);
  cut_short(10);
  const NewestCheckpoint newest = store_.newest_valid(comm());
  EXPECT_FALSE(newest.entry.has_value());
  EXPECT_EQ(newest.skipped.size(), 1U);
}

TEST_F(CheckpointStoreTest, AMarkedFileThatHdf5CannotOpenIsSkipped) {
  write(10);
  write(20);
  on_rank_0([&] {
    std::string content = content_of(store_.path(20));
    content[512] = 'x';                   // HDF5's signature follows the user block
    content.resize(content.size() - 16);  // the list of hashes
    put_content(store_.path(20), content);
  });
  seal_file(store_.path(20), checkpoint_format(), comm());
  const NewestCheckpoint newest = store_.newest_valid(comm());
  ASSERT_TRUE(newest.entry.has_value());
  EXPECT_EQ(newest.entry->step, 10);
  ASSERT_EQ(newest.skipped.size(), 1U);
  EXPECT_THAT(newest.skipped[0].reason, HasSubstr("file signature not found"));
}

TEST_F(CheckpointStoreTest, ADamagedOneIsSkippedNamingTheBlock) {
  write(10);
  write(20);
  on_rank_0([&] {
    std::string content = content_of(store_.path(20));
    content[700] = static_cast<char>(content[700] ^ 1);
    put_content(store_.path(20), content);
  });
  const NewestCheckpoint newest = store_.newest_valid(comm());
  ASSERT_TRUE(newest.entry.has_value());
  EXPECT_EQ(newest.entry->step, 10);
  ASSERT_EQ(newest.skipped.size(), 1U);
  EXPECT_THAT(newest.skipped[0].reason, HasSubstr("damaged: block 1 of 1"));
}

TEST_F(CheckpointStoreTest, TheNewestIsOpen) {
  write(10);
  const NewestCheckpoint newest = store_.newest_valid(comm());
  ASSERT_NE(newest.reader, nullptr);
  std::int64_t step = 0;
  newest.reader->read({"/sampler/step", DType::int64, {}, &step});
  EXPECT_EQ(step, 10);
}

TEST_F(CheckpointStoreTest, PruningKeepsTheNewest) {
  for (const std::int64_t step : {10, 20, 30, 40}) write(step);
  store_.prune(40, {.last = 2}, comm());
  EXPECT_THAT(steps(), ElementsAre(30, 40));
  store_.prune(40, {.last = 1}, comm());
  EXPECT_THAT(steps(), ElementsAre(40));
  store_.prune(40, {.last = 5}, comm());
  EXPECT_THAT(steps(), ElementsAre(40));
}

TEST_F(CheckpointStoreTest, PruningDoesNotCountIncompleteOnes) {
  for (const std::int64_t step : {10, 20, 30, 40}) write(step);
  cut_short(30);
  store_.prune(40, {.last = 2}, comm());
  EXPECT_THAT(steps(), ElementsAre(20, 40));
}

TEST_F(CheckpointStoreTest, PruningKeepsWhatIsAlwaysKept) {
  for (const std::int64_t step : {10, 20, 30, 40}) write(step);
  store_.prune(40, {.last = 1, .always = {20, 25}, .best_first = {}}, comm());
  EXPECT_THAT(steps(), ElementsAre(20, 40));
}

TEST_F(CheckpointStoreTest, PruningKeepsTheBestBesideTheNewest) {
  for (const std::int64_t step : {10, 20, 30, 40}) write(step);
  store_.prune(40, {.last = 2, .always = {}, .best_first = {10, 40, 20}}, comm());
  EXPECT_THAT(steps(), ElementsAre(10, 30, 40));
}

TEST_F(CheckpointStoreTest, TheBestIsTheBestOfWhatIsThereAndComplete) {
  for (const std::int64_t step : {10, 20, 30, 40}) write(step);
  cut_short(10);
  store_.prune(40, {.last = 1, .always = {10}, .best_first = {5, 10, 30, 20}}, comm());
  EXPECT_THAT(steps(), ElementsAre(30, 40));
  write(50);
  store_.prune(50, {.last = 1, .always = {}, .best_first = {50, 30, 40}}, comm());
  EXPECT_THAT(steps(), ElementsAre(50));
}

TEST_F(CheckpointStoreTest, PruningNeverRemovesWhatWasJustWrittenNorNewerOnes) {
  // The run went back to an older checkpoint: 40 is left from before.
  for (const std::int64_t step : {10, 15, 40}) write(step);
  store_.prune(15, {.last = 1}, comm());
  EXPECT_THAT(steps(), ElementsAre(15, 40));
}

TEST_F(CheckpointStoreTest, PreparingRemovesLeftTemporariesOnly) {
  write(10);
  on_rank_0([&] {
    put_content(store_.directory() / "step_000000000020.h5.tmp", "half");
    put_content(store_.directory() / "notes.tmp", "mine");
  });
  store_.prepare(comm());
  EXPECT_FALSE(std::filesystem::exists(store_.directory() / "step_000000000020.h5.tmp"));
  EXPECT_TRUE(std::filesystem::exists(store_.directory() / "notes.tmp"));
  EXPECT_THAT(steps(), ElementsAre(10));
}

TEST_F(CheckpointStoreTest, ADirectoryThatCannotBeMadeFailsOnAllRanks) {
  on_rank_0([&] { put_content(directory() / "file", "x"); });
  const CheckpointStore below(directory() / "file" / "checkpoints");
  EXPECT_THAT(common_error([&] { below.prepare(comm()); }), HasSubstr("file/checkpoints"));
}

}  // namespace
}  // namespace lockstep
