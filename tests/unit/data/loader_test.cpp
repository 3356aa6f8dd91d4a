#include "lockstep/data/loader.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/data/epoch_order.hpp"

#include "unit/data/fake_dataset.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr BatchPlan plan{.global_batch = 8, .grad_accum_steps = 2};
constexpr std::uint64_t seed = 42;

std::vector<Batch> rest_of_epoch(Loader& loader) {
  std::vector<Batch> batches;
  while (auto batch = loader.next()) batches.push_back(std::move(*batch));
  return batches;
}

std::vector<std::int64_t> ids_of(const std::vector<Batch>& batches) {
  std::vector<std::int64_t> ids;
  for (const Batch& batch : batches) ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
  return ids;
}

std::vector<std::int64_t> expected_ids(std::int64_t epoch, std::int64_t first, std::int64_t size) {
  const EpochOrder order(seed, epoch, size);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = first; i < size; ++i) ids.push_back(order.at(i));
  return ids;
}

std::string failure_of(Loader& loader) {
  try {
    while (loader.next()) {
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

class LoaderAtAnyWorkerCount : public testing::TestWithParam<std::int64_t> {
 protected:
  LoaderOptions options() const { return {.num_workers = GetParam(), .prefetch = 3}; }
  Loader loader_of(const Dataset& dataset, int rank = 0, int world = 1) const {
    return {dataset, plan, SampleOrder::shuffled, seed, rank, world, options()};
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, LoaderAtAnyWorkerCount, testing::Values(0, 1, 2, 5));

TEST_P(LoaderAtAnyWorkerCount, HandsOutTheEpochInOrder) {
  const FakeDataset dataset(101);
  Loader loader = loader_of(dataset);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    loader.start_epoch(epoch);
    EXPECT_EQ(ids_of(rest_of_epoch(loader)), expected_ids(epoch, 0, 101));
  }
}

TEST_P(LoaderAtAnyWorkerCount, StartsAtAnOffset) {
  const FakeDataset dataset(21);
  Loader loader = loader_of(dataset);
  loader.start_epoch(1, 14);
  EXPECT_EQ(ids_of(rest_of_epoch(loader)), expected_ids(1, 14, 21));
  loader.start_epoch(1, 21);
  EXPECT_FALSE(loader.next());
}

/// The images of an epoch by sample id, over all ranks.
std::map<std::int64_t, std::vector<float>> augmented_epoch(std::int64_t epoch, std::int64_t offset,
                                                           int world,
                                                           const LoaderOptions& options) {
  const FakeDataset dataset(21, {}, {2, 3, 4});
  const ImageTransform transform(ChannelStatistics{{1}, {2}}, 2, true);
  std::map<std::int64_t, std::vector<float>> images;
  for (int rank = 0; rank < world; ++rank) {
    Loader loader(dataset, plan, SampleOrder::shuffled, seed, rank, world, options, transform);
    loader.start_epoch(epoch, offset);
    for (const Batch& batch : rest_of_epoch(loader)) {
      for (std::size_t i = 0; i < batch.ids.size(); ++i) {
        const auto first = batch.images.begin() + static_cast<std::ptrdiff_t>(24 * i);
        images[batch.ids[i]] = {first, first + 24};
      }
    }
  }
  return images;
}

TEST_P(LoaderAtAnyWorkerCount, AugmentsBySeedEpochAndSampleAlone) {
  const auto reference = augmented_epoch(3, 0, 1, {.num_workers = 0, .prefetch = 1});
  ASSERT_EQ(reference.size(), 21U);
  for (const int world : {1, 2, 3}) EXPECT_EQ(augmented_epoch(3, 0, world, options()), reference);
  // Resumed in the midst of the epoch, the rest is what it would have been.
  for (const auto& [id, image] : augmented_epoch(3, 8, 2, options())) {
    EXPECT_EQ(image, reference.at(id));
  }
  std::int64_t same = 0;
  for (const auto& [id, image] : augmented_epoch(4, 0, 1, options())) {
    same += image == reference.at(id) ? 1 : 0;
  }
  EXPECT_LT(same, 5);  // 50 places and sides: rarely the same in two epochs
}

TEST_P(LoaderAtAnyWorkerCount, AppliesTheDrawOfEachSample) {
  const FakeDataset dataset(21, {}, {2, 3, 4});
  const ImageTransform transform(ChannelStatistics{{1}, {2}}, 2, true);
  for (const auto& [id, image] : augmented_epoch(3, 0, 1, options())) {
    std::vector<float> original(24);
    dataset.read(id, original);
    std::vector<float> expected(24);
    transform.apply(transform.draw(seed, 3, id), original, {2, 3, 4}, expected);
    EXPECT_EQ(image, expected);
  }
}

TEST_P(LoaderAtAnyWorkerCount, NormalisesWithoutAugmentation) {
  const FakeDataset dataset(21);
  Loader loader(dataset, {.global_batch = 8}, SampleOrder::sequential, 0, 0, 1, options(),
                ImageTransform(ChannelStatistics{{2}, {4}}, 0, false));
  loader.start_epoch(0);
  for (const Batch& batch : rest_of_epoch(loader)) {
    for (std::size_t i = 0; i < batch.ids.size(); ++i) {
      EXPECT_EQ(batch.images[2 * i], (static_cast<float>(batch.ids[i]) - 2.0F) / 4.0F);
    }
  }
}

TEST_P(LoaderAtAnyWorkerCount, FillsImagesAndLabelsOfTheIds) {
  const FakeDataset dataset(21);
  Loader loader = loader_of(dataset);
  loader.start_epoch(0);
  for (const Batch& batch : rest_of_epoch(loader)) {
    EXPECT_EQ(batch.image_shape, (ImageShape{1, 1, 2}));
    ASSERT_EQ(batch.images.size(), 2 * batch.ids.size());
    ASSERT_EQ(batch.labels.size(), batch.ids.size());
    ASSERT_EQ(static_cast<std::size_t>(batch.samples), batch.ids.size());
    for (std::size_t i = 0; i < batch.ids.size(); ++i) {
      const auto id = static_cast<float>(batch.ids[i]);
      EXPECT_EQ(batch.images[2 * i], id);
      EXPECT_EQ(batch.images[2 * i + 1], id + 0.01F);
      EXPECT_EQ(batch.labels[i], batch.ids[i] % 10);
    }
  }
}

TEST_P(LoaderAtAnyWorkerCount, TellsWhereInTheWindowABatchIs) {
  const FakeDataset dataset(13);  // windows of 8 and 5, micro-batches of 4, 4 and 4, 1
  Loader loader = loader_of(dataset);
  loader.start_epoch(0);
  std::vector<std::int64_t> window_samples;
  std::vector<std::int64_t> samples;
  std::vector<std::int64_t> indices;
  std::vector<bool> last;
  for (const Batch& batch : rest_of_epoch(loader)) {
    window_samples.push_back(batch.micro_batch.window.samples);
    samples.push_back(batch.samples);
    indices.push_back(batch.micro_batch.index);
    last.push_back(batch.micro_batch.last_of_window);
  }
  EXPECT_THAT(window_samples, ElementsAre(8, 8, 5, 5));
  EXPECT_THAT(samples, ElementsAre(4, 4, 4, 1));
  EXPECT_THAT(indices, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(last, ElementsAre(false, true, false, true));
}

TEST_P(LoaderAtAnyWorkerCount, GivesRanksWithoutSamplesAnEmptyBatch) {
  const FakeDataset dataset(9);  // micro-batches of 4, 4, 1 over three ranks
  std::vector<std::vector<std::int64_t>> samples(3);
  for (int rank = 0; rank < 3; ++rank) {
    Loader loader = loader_of(dataset, rank, 3);
    loader.start_epoch(0);
    for (const Batch& batch : rest_of_epoch(loader)) {
      samples[static_cast<std::size_t>(rank)].push_back(batch.samples);
    }
  }
  EXPECT_THAT(samples[0], ElementsAre(2, 2, 1));
  EXPECT_THAT(samples[1], ElementsAre(1, 1, 0));
  EXPECT_THAT(samples[2], ElementsAre(1, 1, 0));
}

TEST_P(LoaderAtAnyWorkerCount, NamesDataAndSampleOfAFailedReadUntilTheNextEpoch) {
  bool broken = true;
  const FakeDataset dataset(101, [&](std::int64_t id) {
    if (broken && id == 17) throw std::runtime_error("bad sector");
  });
  Loader loader = loader_of(dataset);
  loader.start_epoch(0);
  const auto names_it =
      AllOf(HasSubstr("sample 17"), HasSubstr("fake data"), HasSubstr("bad sector"));
  EXPECT_THAT(failure_of(loader), names_it);
  EXPECT_THAT(failure_of(loader), names_it);
}

TEST_P(LoaderAtAnyWorkerCount, HandsOutWhatComesBeforeAFailedRead) {
  const std::int64_t bad = EpochOrder(seed, 0, 101).at(50);
  const FakeDataset dataset(101, [&](std::int64_t id) {
    if (id == bad) throw std::runtime_error("bad sector");
  });
  Loader loader = loader_of(dataset);
  loader.start_epoch(0);
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(loader.next());  // positions 0 to 47
  EXPECT_THROW(loader.next(), Error);
}

TEST_P(LoaderAtAnyWorkerCount, RecoversFromAFailureInANewEpoch) {
  std::atomic<bool> broken = true;
  const FakeDataset dataset(21, [&](std::int64_t) {
    if (broken) throw std::runtime_error("not yet");
  });
  Loader loader = loader_of(dataset);
  loader.start_epoch(0);
  EXPECT_THROW(loader.next(), Error);
  broken = false;
  loader.start_epoch(0);
  EXPECT_EQ(ids_of(rest_of_epoch(loader)), expected_ids(0, 0, 21));
}

TEST_P(LoaderAtAnyWorkerCount, RestartsInTheMidstOfAnEpoch) {
  const FakeDataset dataset(101);
  Loader loader = loader_of(dataset);
  for (std::int64_t round = 0; round < 200; ++round) {
    loader.start_epoch(round);
    for (std::int64_t i = 0; i < round % 7; ++i) loader.next();
  }
  loader.start_epoch(9);
  EXPECT_EQ(ids_of(rest_of_epoch(loader)), expected_ids(9, 0, 101));
}

TEST_P(LoaderAtAnyWorkerCount, IsDestroyedAtAnyPoint) {
  const FakeDataset dataset(101);
  for (int taken = 0; taken < 30; ++taken) {
    Loader loader = loader_of(dataset);
    if (taken == 0) continue;
    loader.start_epoch(0);
    for (int i = 1; i < taken; ++i) loader.next();
  }
}

TEST_P(LoaderAtAnyWorkerCount, ReadsOnTheSameThreadsInEveryEpoch) {
  std::mutex mutex;
  std::set<std::thread::id> readers;
  const FakeDataset dataset(50, [&](std::int64_t) {
    const std::lock_guard lock(mutex);
    readers.insert(std::this_thread::get_id());
  });
  Loader loader = loader_of(dataset);
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    loader.start_epoch(epoch);
    rest_of_epoch(loader);
  }
  if (GetParam() == 0) {
    EXPECT_THAT(readers, ElementsAre(std::this_thread::get_id()));
  } else {
    EXPECT_LE(readers.size(), static_cast<std::size_t>(GetParam()));
    EXPECT_EQ(readers.count(std::this_thread::get_id()), 0U);
  }
}

TEST_P(LoaderAtAnyWorkerCount, HandsOutNothingBeforeTheFirstEpoch) {
  const FakeDataset dataset(21);
  Loader loader = loader_of(dataset);
  EXPECT_FALSE(loader.next());
}

TEST_P(LoaderAtAnyWorkerCount, ReadsEachValidationSampleOnceOverAllRanks) {
  const FakeDataset dataset(21);
  for (const int world : {1, 2, 4, 30}) {
    std::multiset<std::int64_t> seen;
    for (int rank = 0; rank < world; ++rank) {
      Loader loader(dataset, {.global_batch = 8}, SampleOrder::sequential, 0, rank, world,
                    options());
      loader.start_epoch(5);
      for (const std::int64_t id : ids_of(rest_of_epoch(loader))) seen.insert(id);
    }
    ASSERT_EQ(seen.size(), 21U) << world << " ranks";
    std::int64_t expected = 0;
    for (const std::int64_t id : seen) EXPECT_EQ(id, expected++);
  }
}

TEST(Loader, ReadsNoFurtherAheadThanPrefetch) {
  std::mutex mutex;
  std::condition_variable progress;
  std::int64_t reads = 0;
  std::int64_t allowed = 0;
  bool exceeded = false;
  const FakeDataset dataset(1000, [&](std::int64_t) {
    const std::lock_guard lock(mutex);
    ++reads;
    exceeded = exceeded || reads > allowed;
    progress.notify_all();
  });
  Loader loader(dataset, {.global_batch = 4}, SampleOrder::shuffled, seed, 0, 1,
                {.num_workers = 3, .prefetch = 2});
  allowed = std::int64_t{2} * 4;
  loader.start_epoch(0);
  for (int taken = 0; taken < 20; ++taken) {
    std::unique_lock lock(mutex);
    progress.wait(lock, [&] { return reads >= allowed; });  // it does read that far
    allowed += 4;
    lock.unlock();
    loader.next();
  }
  const std::lock_guard lock(mutex);
  EXPECT_FALSE(exceeded);
}

TEST(Loader, ReusesTheMemoryOfARecycledBatch) {
  const FakeDataset dataset(16);
  Loader loader(dataset, {.global_batch = 8}, SampleOrder::shuffled, seed, 0, 1,
                {.num_workers = 0, .prefetch = 1});
  loader.start_epoch(0);
  std::optional<Batch> batch = loader.next();
  const float* const images = batch->images.data();
  const std::int64_t* const labels = batch->labels.data();
  loader.recycle(std::move(*batch));
  // Takes what the allocator would hand out again, had the memory been freed.
  const std::vector<std::vector<float>> decoys(32, std::vector<float>(16));
  batch = loader.next();
  EXPECT_EQ(batch->images.data(), images);
  EXPECT_EQ(batch->labels.data(), labels);
  EXPECT_EQ(ids_of({*batch}), expected_ids(0, 8, 16));
}

TEST(Loader, RefusesAPlanThatGivesNoWindow) {
  const FakeDataset dataset(7);
  EXPECT_THROW(Loader(dataset, {.global_batch = 8, .drop_last = true}, SampleOrder::shuffled, seed,
                      0, 1, {}),
               UsageError);
}

TEST(Loader, OptionsCarryTheirFieldNames) {
  LoaderOptions options;
  const FieldTable table = fields(options);
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[0].name(), "num_workers");
  EXPECT_EQ(table[0].default_text(), "4");
  EXPECT_TRUE(table[1].assign("0"));  // a loader that may not read ahead could never read
}

}  // namespace
}  // namespace lockstep
