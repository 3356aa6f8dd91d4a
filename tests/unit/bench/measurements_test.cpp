// What is measured, not how long it takes.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "lockstep/bench/all_reduce_bench.hpp"
#include "lockstep/bench/checkpoint_bench.hpp"
#include "lockstep/bench/loader_bench.hpp"

#include "support/recording_communicator.hpp"
#include "unit/data/fake_dataset.hpp"
#include "unit/io/shared_directory.hpp"

namespace lockstep {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

class MeasurementsTest : public SharedDirectoryTest {
 protected:
  /// As the measurements expect it; counts the blocks.
  BeforeBlock before_block() {
    return [this] { ++blocks_begun_; };
  }

  /// One positive value a block, the same on all ranks.
  void expect_blocks(const std::vector<Figure>& figures, std::size_t blocks) {
    EXPECT_EQ(blocks_begun_, blocks);
    for (const Figure& figure : figures) {
      SCOPED_TRACE(figure.name);
      EXPECT_THAT(figure.blocks, SizeIs(blocks));
      EXPECT_THAT(figure.blocks, Each(Gt(0.0)));
    }
    const std::string own = json_text({}, figures);
    EXPECT_THAT(all_gather_text(comm(), own, "figures"), Each(own));
  }

 private:
  std::size_t blocks_begun_ = 0;
};

TEST_F(MeasurementsTest, AllReduceSumsMessagesOfEverySize) {
  std::vector<float> values((64 << 10) / sizeof(float), 1.0F);
  RecordingCommunicator messages(comm());
  const std::vector<Figure> figures = bench_all_reduce(
      messages, comm(),
      {.data = values.data(), .bytes = static_cast<std::int64_t>(values.size() * sizeof(float))}, 2,
      before_block());
  expect_blocks(figures, 2);
  ASSERT_THAT(figures, SizeIs(3));
  EXPECT_EQ(figures[0].name, "all-reduce of 4 KiB");
  EXPECT_EQ(figures[2].name, "all-reduce of 64 KiB");
  std::set<std::int64_t> sizes;
  for (const CollectiveRecord& record : messages.records()) sizes.insert(record.bytes());
  EXPECT_THAT(sizes, ElementsAre(4 << 10, 16 << 10, 64 << 10));
  EXPECT_THAT(values,
              Each(size() > 1 ? testing::Matcher<float>(Gt(1.0F)) : testing::Matcher<float>(1.0F)));
}

TEST_F(MeasurementsTest, LoaderTakesBatchesOfItsRankAgainAndAgain) {
  std::atomic<std::int64_t> reads = 0;
  const FakeDataset data(12, [&](std::int64_t) { ++reads; });
  const std::vector<Figure> figures =
      bench_loader(data, {.global_batch = 6}, {.num_workers = 1, .prefetch = 1}, {}, comm(),
                   /*blocks=*/2, /*block_seconds=*/0.01, before_block());
  expect_blocks(figures, 2);
  EXPECT_EQ(figures[0].unit, "images/s");
  EXPECT_GT(reads, data.size());
}

TEST_F(MeasurementsTest, CheckpointLeavesNothingBehind) {
  const std::vector<Figure> figures =
      bench_checkpoint(directory(), /*mib=*/1, comm(), 2, before_block());
  expect_blocks(figures, 2);
  EXPECT_THAT(figures, SizeIs(4));
  comm().barrier("end of the measurement");
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
}

TEST_F(MeasurementsTest, CheckpointSaysWhatItCannotWrite) {
  EXPECT_THAT(common_error(
                  [&] { bench_checkpoint(directory() / "nowhere", 1, comm(), 1, before_block()); }),
              HasSubstr("No such file or directory"));
}

TEST_F(MeasurementsTest, AnInterruptionEndsIt) {
  const BeforeBlock interrupt = [] { throw Error("measure", "interrupted"); };
  EXPECT_THROW(bench_checkpoint(directory(), 1, comm(), 1, interrupt), Error);
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
}

}  // namespace
}  // namespace lockstep
