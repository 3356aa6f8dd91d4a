// What each collective computes on the way through host memory. Rank r of n sends (r + 1) *
// (1, 2...).
#include "lockstep/cuda/staged_communicator.hpp"

#include <memory_resource>
#include <vector>

#include "lockstep/cuda/pinned_memory.hpp"

#include "unit/cuda/nccl_fixture.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;

class StagedTest : public NcclTest {
 protected:
  void TearDown() override {
    comm.reset();
    NcclTest::TearDown();
  }
  double own() { return rank() + 1; }

  std::unique_ptr<StagedCommunicator> comm = std::make_unique<StagedCommunicator>(
      gpu.api().cuda, /*device=*/0, world().duplicate("a test"));
};

TEST_F(StagedTest, AllReduce) {
  for (const DType dtype : {DType::int32, DType::int64, DType::float32, DType::float64}) {
    SCOPED_TRACE(name_of(dtype));
    DeviceValues sum(gpu, dtype, {own(), 2 * own(), 3 * own()});
    DeviceValues max(gpu, dtype, {own(), 2 * own()}, compute);
    comm->all_reduce(sum.buffer(), ReduceOp::sum, "sum");
    comm->all_reduce(max.buffer(), ReduceOp::max, "max");
    const double total = sum_of_ranks();
    EXPECT_THAT(sum.get_when_done(), ElementsAre(total, 2 * total, 3 * total));
    EXPECT_THAT(max.get_when_done(), ElementsAre(size(), 2 * size()));
  }
}

TEST_F(StagedTest, BroadcastGatherAndScatter) {
  const int root = size() - 1;
  DeviceValues values(gpu, DType::float64, {own(), 2 * own()}, compute);
  comm->broadcast(values.buffer(), root, "values");
  EXPECT_THAT(values.get_when_done(), ElementsAre(size(), 2 * size()));

  const auto ranks = static_cast<std::size_t>(size());
  DeviceValues part(gpu, DType::float64, {own()}, compute);
  DeviceValues whole(gpu, DType::float64, std::vector<double>(ranks));
  comm->all_gather(part.buffer(), whole.buffer(), "parts");
  std::vector<double> expected;
  for (int r = 1; r <= size(); ++r) expected.push_back(r);
  EXPECT_EQ(whole.get_when_done(), expected);

  DeviceValues all(gpu, DType::float64, std::vector<double>(ranks, own()));
  DeviceValues reduced(gpu, DType::float64, {0.0}, compute);
  comm->reduce_scatter(all.buffer(), reduced.buffer(), ReduceOp::sum, "parts");
  EXPECT_THAT(reduced.get_when_done(), ElementsAre(sum_of_ranks()));
  EXPECT_THAT(all.get_when_done(), testing::Each(own()));
}

// The message holds what the stream's work before it left, and the stream's work behind it finds
// the sum.
TEST_F(StagedTest, KeepsItsPlaceInAStreamThatIsLate) {
  DeviceValues values(gpu, DType::float64, {0.0}, compute);
  gpu.streams().hold(compute);
  gpu.streams().put(compute, [&] { values.set({own()}); });
  Work work = comm->start_all_reduce(values.buffer(), ReduceOp::sum, "late");
  EXPECT_FALSE(work.done());
  gpu.streams().settle();
  EXPECT_FALSE(work.done());
  gpu.streams().release(compute);
  work.wait();
  std::vector<double> seen;
  gpu.streams().put(compute, [&] { seen = values.get(); });
  gpu.streams().synchronize(compute);
  EXPECT_THAT(seen, ElementsAre(sum_of_ranks()));
}

// Rank by rank the second one's data is there first.
TEST_F(StagedTest, StartsInOneOrderOnAllRanks) {
  CudaStream other = nullptr;
  gpu.api().cuda.create_stream(&other, 0);
  DeviceValues first(gpu, DType::float64, {own()}, compute);
  DeviceValues second(gpu, DType::int64, {own(), own()}, other);
  CudaStream held = rank() % 2 == 0 ? compute : other;
  gpu.streams().hold(held);
  Work one = comm->start_all_reduce(first.buffer(), ReduceOp::sum, "first");
  Work two = comm->start_all_reduce(second.buffer(), ReduceOp::sum, "second");
  gpu.streams().settle();
  gpu.streams().release(held);
  two.wait();
  one.wait();
  EXPECT_THAT(first.get_when_done(), ElementsAre(sum_of_ranks()));
  EXPECT_THAT(second.get_when_done(), ElementsAre(sum_of_ranks(), sum_of_ranks()));
  gpu.api().cuda.destroy_stream(other);
}

TEST_F(StagedTest, KeepsItsPinnedMemoryForTheNextMessageOfThatSize) {
  DeviceValues values(gpu, DType::float64, {own(), own()}, compute);
  const auto reduce = [&] {
    comm->all_reduce(values.buffer(), ReduceOp::max, "a message");
    gpu.streams().settle();
  };
  reduce();
  reduce();
  gpu.clear_calls();
  for (int i = 0; i < 3; ++i) reduce();
  EXPECT_EQ(gpu.calls_of("allocate_pinned"), 0);
  EXPECT_EQ(gpu.calls_of("free_pinned"), 0);
}

// A thread that has no GPU of its own yet, such as a loader's, must not set up another one.
TEST_F(StagedTest, PinnedMemoryBelongsToItsGpu) {
  PinnedMemory memory(gpu.api().cuda, /*device=*/0);
  gpu.clear_calls();
  { const std::pmr::vector<float> values(3, 1.0F, &memory); }
  EXPECT_THAT(gpu.calls(),
              ElementsAre("set_device", "allocate_pinned", "set_device", "free_pinned"));
  PinnedMemory elsewhere(gpu.api().cuda, /*device=*/7);
  EXPECT_THROW(std::pmr::vector<float>(3, &elsewhere), Error);
}

TEST_F(StagedTest, PinnedMemoryThatIsNotThereIsAnErrorThatSaysWhatToLower) {
  gpu.api().cuda.allocate_pinned = [](void**, std::size_t) { return CudaStatus::out_of_memory; };
  PinnedMemory memory(gpu.api().cuda, /*device=*/0);
  try {
    const std::pmr::vector<float> values(3, 1.0F, &memory);
    FAIL() << "there is no memory";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("12 bytes of pinned host memory"));
    EXPECT_THAT(error.remedy(), testing::HasSubstr("prefetch"));
  }
}

TEST_F(StagedTest, RefusesHostMemory) {
  double value = 1.0;
  EXPECT_THROW(comm->all_reduce(buffer_of(std::span(&value, 1)), ReduceOp::sum, "host"), Error);
}

}  // namespace
}  // namespace lockstep
