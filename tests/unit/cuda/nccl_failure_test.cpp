// What fails or never ends once the ranks are connected: it is found, said, and nobody waits for
// ever.
#include <atomic>
#include <future>

#include "unit/cuda/nccl_fixture.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class NcclFailure : public NcclTest {
 protected:
  NcclFailure() {
    options.on_failure = [this](const Error& error) { reported.set_value(error.what()); };
  }

  auto says_who_and_what_to_try() {
    return AllOf(
        HasSubstr("rank " + std::to_string(rank()) + " of " + std::to_string(size()) + " on host "),
        HasSubstr("NCCL_DEBUG=INFO"), HasSubstr("NCCL_SOCKET_IFNAME"),
        HasSubstr("NCCL_IB_DISABLE"));
  }
  bool was_reported() {
    return report.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  TestClock clock;
  std::promise<std::string> reported;
  std::future<std::string> report = reported.get_future();
};

TEST_F(NcclFailure, AnErrorOnTheWayIsFoundBehindTheTraining) {
  gpu.nccl().faults.error_after = 2;
  const auto comm = connect();
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    comm->all_reduce(values.buffer(), ReduceOp::sum, "first");
    Work second = comm->start_all_reduce(values.buffer(), ReduceOp::sum, "second");
    const std::string text = report.get();
    EXPECT_THAT(text, AllOf(HasSubstr("stand-in error 6: the stand-in's last words"),
                            says_who_and_what_to_try()));
    // Everything from then on says the same.
    EXPECT_EQ(error_of([&] { second.wait(); }).what(), text);
    EXPECT_EQ(error_of([&] { comm->all_reduce(values.buffer(), ReduceOp::sum, "third"); }).what(),
              text);
    EXPECT_EQ(error_of([&] { comm->finish(); }).what(), text);
    gpu.streams().synchronize(compute);
  }
}

TEST_F(NcclFailure, ACollectiveThatNeverCompletesFreesTheGpuAtItsDeadline) {
  options.now = clock.now();
  options.collective_deadline = std::chrono::seconds(20);
  if (is_last()) gpu.nccl().faults.never_completes = 1;
  const auto comm = connect();
  clock.go_on();
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    comm->grouped([&] {
      comm->start_all_reduce(values.buffer(), ReduceOp::sum, "gradients, bucket 2");
      comm->start_all_reduce(values.buffer(), ReduceOp::sum, "gradients, bucket 1");
    });
    gpu.streams().synchronize(gpu.nccl_stream());  // ends because the collective is given up
    EXPECT_THAT(report.get(),
                AllOf(HasSubstr("all_reduce for gradients, bucket 2, all_reduce for gradients, "
                                "bucket 1: "),
                      HasSubstr("not done within 20 s"), says_who_and_what_to_try()));
    EXPECT_THROW(comm->all_reduce(values.buffer(), ReduceOp::sum, "more"), Error);
  }
}

// A GPU that is busy with what comes before is not a network that hangs.
TEST_F(NcclFailure, LateDataIsNoLateCollective) {
  std::atomic<int> hours = 0;
  options.now = [&] { return std::chrono::steady_clock::time_point(std::chrono::hours(hours)); };
  const auto comm = connect();
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    gpu.streams().hold(compute);
    Work work = comm->start_all_reduce(values.buffer(), ReduceOp::sum, "late");
    for (int look = 0; look < 3; ++look) {
      gpu.wait_for_calls_elsewhere("async_error", 2);
      ++hours;
    }
    gpu.streams().release(compute);
    work.wait();
    EXPECT_THAT(values.get_when_done(), ElementsAre(size()));
    gpu.wait_for_calls_elsewhere("async_error", 2);
    EXPECT_FALSE(was_reported());
  }
  comm->finish();
}

TEST_F(NcclFailure, ALaunchThatFailsIsThrownWhereItIsMade) {
  gpu.nccl().faults.launch_fails = 1;
  const auto comm = connect();
  gpu.on_call = [&](const std::string& name) {
    // Giving up may never return.
    EXPECT_TRUE(name != "abort" || was_reported());
  };
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    comm->all_reduce(values.buffer(), ReduceOp::sum, "first");
    const std::string text =
        error_of([&] { comm->all_reduce(values.buffer(), ReduceOp::sum, "second"); }).what();
    EXPECT_THAT(text, AllOf(HasSubstr("all_reduce for second: "), HasSubstr("stand-in error 2"),
                            says_who_and_what_to_try()));
    EXPECT_EQ(gpu.calls_of("abort"), 1);
    EXPECT_EQ(error_of([&] { comm->finish(); }).what(), text);
    gpu.streams().synchronize(compute);
    EXPECT_EQ(report.get(), text);
  }
}

TEST_F(NcclFailure, ACallThatFailsWithinAGroupEndsTheGroup) {
  const auto comm = connect();
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    Buffer elsewhere = values.buffer();
    double host = 0;
    elsewhere.data = &host;
    Work work;
    EXPECT_THAT(error_of([&] {
                  comm->grouped([&] {
                    work = comm->start_all_reduce(elsewhere, ReduceOp::sum, "not on the device");
                    comm->start_all_reduce(values.buffer(), ReduceOp::sum, "good");
                  });
                }).what(),
                HasSubstr("stand-in error 4"));
    EXPECT_EQ(gpu.calls_of("group_end"), 1);
    EXPECT_EQ(gpu.calls_of("all_reduce"), 1);
    EXPECT_THROW(work.wait(), Error);
  }
}

TEST_F(NcclFailure, ALaunchThatNeverEndsEndsAtItsDeadline) {
  options.now = clock.now();
  options.collective_deadline = std::chrono::seconds(40);
  gpu.nccl().faults.launch_never_completes = true;
  const auto comm = connect();
  clock.go_on();
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    EXPECT_THAT(error_of([&] { comm->all_reduce(values.buffer(), ReduceOp::sum, "stuck"); }).what(),
                AllOf(HasSubstr("all_reduce for stuck: "), HasSubstr("not done within 40 s")));
  }
  EXPECT_EQ(gpu.calls_of("abort"), 1);
}

TEST_F(NcclFailure, AnErrorOfTheGpuItselfIsFoundBehindTheTraining) {
  std::atomic<bool> broken = false;
  gpu.api().cuda.query_event = [&, query = gpu.api().cuda.query_event](CudaEvent event) {
    return broken ? static_cast<CudaStatus>(700) : query(event);
  };
  const auto comm = connect();
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    gpu.streams().hold(compute);
    comm->all_reduce(values.buffer(), ReduceOp::sum, "doomed");
    broken = true;
    EXPECT_THAT(report.get(), HasSubstr("stand-in CUDA error 700"));
    gpu.streams().release(compute);
    gpu.streams().synchronize(compute);
  }
}

TEST_F(NcclFailure, RanksThatCallDifferentCollectivesAreToldSo) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto comm = connect();
  {
    DeviceValues values(gpu, is_last() ? DType::float32 : DType::int32, {1}, compute);
    Work work = comm->start_all_reduce(values.buffer(), ReduceOp::sum, "what differs");
    EXPECT_THAT(report.get(), HasSubstr("stand-in error 5"));
    gpu.streams().synchronize(compute);
  }
}

TEST_F(NcclFailure, FinishClosesInGoodOrder) {
  const auto comm = connect();
  {
    DeviceValues values(gpu, DType::float32, {1}, compute);
    comm->all_reduce(values.buffer(), ReduceOp::sum, "values");
    gpu.streams().synchronize(compute);
  }
  gpu.clear_calls();
  comm->finish();
  std::vector<std::string> calls = gpu.calls();
  std::erase_if(calls, [](const std::string& name) { return name.ends_with("_event"); });
  EXPECT_THAT(calls, ElementsAre("finalize", "destroy"));
}

TEST_F(NcclFailure, AFinishThatNeverEndsEndsAtItsDeadline) {
  options.now = clock.now();
  gpu.nccl().faults.finalize_never_completes = true;
  const auto comm = connect();
  clock.go_on();
  EXPECT_THAT(error_of([&] { comm->finish(); }).what(),
              AllOf(HasSubstr("close NCCL: "), HasSubstr("not done within 600 s")));
  EXPECT_EQ(gpu.calls_of("abort"), 1);
}

TEST_F(NcclFailure, WithoutFinishNcclGivesUp) {
  connect();
  EXPECT_EQ(gpu.calls_of("abort"), 1);
  EXPECT_EQ(gpu.calls_of("finalize") + gpu.calls_of("destroy"), 0);
}

}  // namespace
}  // namespace lockstep
