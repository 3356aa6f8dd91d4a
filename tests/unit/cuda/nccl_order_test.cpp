// What waits for what: collectives for their data, later work for collectives, the host for
// nothing.
#include "unit/cuda/nccl_fixture.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::Not;

class NcclOrder : public NcclTest {
 protected:
  using Values = std::vector<double>;

  Values zeros() { return Values(static_cast<std::size_t>(size())); }

  /// Gathers what a kernel writes that is late; returns what was gathered.
  Values gathered_behind_a_late_kernel() {
    const auto comm = connect();
    DeviceValues part(gpu, DType::float32, {0}, compute);
    DeviceValues whole(gpu, DType::float32, zeros(), compute);
    gpu.streams().hold(compute);
    gpu.streams().put(compute, [&] { part.set({7}); });
    comm->all_gather(part.buffer(), whole.buffer(), "a test");
    gpu.streams().settle();
    gpu.streams().release(compute);
    const Values values = whole.get_when_done();
    comm->finish();
    return values;
  }

  /// Gathers in a late stream of NCCL's; returns what a kernel behind it sees.
  Values seen_behind_a_late_gather() {
    const auto comm = connect();
    DeviceValues part(gpu, DType::float32, {7}, compute);
    DeviceValues whole(gpu, DType::float32, zeros(), compute);
    const CudaStream late = gpu.nccl_stream();
    gpu.streams().hold(late);
    Values seen;
    comm->all_gather(part.buffer(), whole.buffer(), "a test");
    gpu.streams().put(compute, [&] { seen = whole.get(); });
    gpu.streams().settle();
    gpu.streams().release(late);
    gpu.streams().synchronize(late);
    gpu.streams().synchronize(compute);
    comm->finish();
    return seen;
  }

  Values sevens() { return Values(static_cast<std::size_t>(size()), 7); }
};

TEST_F(NcclOrder, ACollectiveWaitsForItsData) {
  EXPECT_EQ(gathered_behind_a_late_kernel(), sevens());
}

TEST_F(NcclOrder, WorkBehindACollectiveWaitsForIt) {
  EXPECT_EQ(seen_behind_a_late_gather(), sevens());
}

// That the two tests above can fail: where no stream waits for an event, a late one exposes it.
TEST_F(NcclOrder, AMissingWaitIsSeenByWhatIsReadTooEarly) {
  gpu.api().cuda.wait_event = [](CudaStream, CudaEvent) { return CudaStatus::success; };
  EXPECT_EQ(gathered_behind_a_late_kernel(), zeros());
}

TEST_F(NcclOrder, AMissingWaitBehindACollectiveIsSeenByWhatIsReadTooEarly) {
  gpu.api().cuda.wait_event = [](CudaStream, CudaEvent) { return CudaStatus::success; };
  EXPECT_EQ(seen_behind_a_late_gather(), zeros());
}

TEST_F(NcclOrder, BothBuffersStreamsAreWaitedForAndWait) {
  const auto comm = connect();
  {
    DeviceValues part(gpu, DType::float32, {0}, compute);
    DeviceValues whole(gpu, DType::float32, zeros(), nullptr);
    gpu.clear_calls();
    Work work = comm->start_all_gather(part.buffer(), whole.buffer(), "a test");
    EXPECT_EQ(gpu.calls_of("wait_event"), 2);
    work.wait();
    EXPECT_EQ(gpu.calls_of("wait_event"), 4);
    gpu.streams().synchronize(compute);
    gpu.streams().synchronize(nullptr);
  }
  comm->finish();
}

TEST_F(NcclOrder, CollectivesTakePlaceInTheOrderOfTheirStart) {
  const auto comm = connect();
  {
    DeviceValues late(gpu, DType::float32, {1}, compute);
    DeviceValues early(gpu, DType::float64, {1}, nullptr);
    gpu.streams().hold(compute);
    Work first = comm->start_all_reduce(late.buffer(), ReduceOp::sum, "late data");
    Work second = comm->start_all_reduce(early.buffer(), ReduceOp::sum, "early data");
    gpu.streams().settle();
    EXPECT_THAT(gpu.nccl().log(), ElementsAre());
    EXPECT_FALSE(second.done());
    gpu.streams().release(compute);
    gpu.streams().synchronize(gpu.nccl_stream());
    EXPECT_TRUE(first.done());
    EXPECT_TRUE(second.done());
    first.wait();
    second.wait();
    EXPECT_THAT(gpu.nccl().log(),
                ElementsAre("all_reduce 1 float32 sum", "all_reduce 1 float64 sum"));
    gpu.streams().synchronize(compute);
    gpu.streams().synchronize(nullptr);
  }
  comm->finish();
}

// A step as the trainer makes it: backward, a bucket after the other, then the update behind all.
TEST_F(NcclOrder, NoHostWaitsInAStep) {
  const auto comm = connect();
  {
    DeviceValues first(gpu, DType::float32, {0}, compute);
    DeviceValues second(gpu, DType::float32, {0}, compute);
    double updated = 0;
    gpu.streams().hold(compute);  // the host runs ahead: the step returns though nothing is done
    gpu.clear_calls();
    gpu.streams().put(compute, [&] { second.set({2}); });
    Work second_bucket = comm->start_all_reduce(second.buffer(), ReduceOp::sum, "bucket 2");
    gpu.streams().put(compute, [&] { first.set({1}); });
    Work first_bucket = comm->start_all_reduce(first.buffer(), ReduceOp::sum, "bucket 1");
    second_bucket.wait();
    first_bucket.wait();
    gpu.streams().put(compute, [&] { updated = first.get()[0] + 10 * second.get()[0]; });

    const std::vector<std::string> one_start{"create_event", "create_event", "record_event",
                                             "wait_event",   "all_reduce",   "record_event"};
    std::vector<std::string> expected = one_start;
    expected.insert(expected.end(), one_start.begin(), one_start.end());
    // Each wait gives up the events of what the watch has seen done, which is nothing yet.
    expected.insert(expected.end(), {"wait_event", "wait_event"});
    EXPECT_THAT(gpu.calls(), ElementsAreArray(expected));

    gpu.streams().release(compute);
    gpu.streams().synchronize(compute);
    EXPECT_EQ(updated, 21 * size());
  }
  comm->finish();
}

TEST_F(NcclOrder, TheCollectivesStreamIsOfTheHighestPriority) {
  const auto comm = connect();
  EXPECT_NE(gpu.nccl_stream(), nullptr);
  comm->finish();
}

// NCCL may go on with a launch behind the call; an event that is recorded before it is done would
// come too early.
TEST_F(NcclOrder, EventsAreRecordedWhenTheLaunchIsDone) {
  const auto comm = connect();
  gpu.nccl().faults.polls_until_launched = 3;
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    comm->all_reduce(values.buffer(), ReduceOp::sum, "slow to launch");
    EXPECT_THAT(values.get_when_done(), ElementsAre(size()));
    comm->all_reduce(values.buffer(), ReduceOp::sum, "and again");
    EXPECT_THAT(values.get_when_done(), ElementsAre(size() * size()));
  }
  comm->finish();
}

}  // namespace
}  // namespace lockstep
