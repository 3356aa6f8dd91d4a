// How the ranks find each other, and what becomes of those that cannot.
#include "lockstep/comm/agreement.hpp"

#include "cuda/device_places.hpp"
#include "support/recording_communicator.hpp"
#include "unit/cuda/nccl_fixture.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto out_of_order = static_cast<CudaStatus>(999);

class NcclConnect : public NcclTest {
 protected:
  std::string text_of(const NcclUniqueId& id) {
    return {reinterpret_cast<const char*>(id.data()), id.size()};
  }
  std::string last_rank() { return std::to_string(size() - 1); }

  TestClock clock;
};

TEST_F(NcclConnect, EachCommunicatorHasAnIdOfRank0s) {
  const auto first = connect();
  const auto second = connect();
  EXPECT_EQ(gpu.calls_of("unique_id"), rank() == 0 ? 2 : 0);
  ASSERT_EQ(gpu.nccl().ids().size(), 2U);
  EXPECT_NE(gpu.nccl().ids()[0], gpu.nccl().ids()[1]);
  for (const NcclUniqueId& id : gpu.nccl().ids()) {
    EXPECT_THAT(all_gather_text(world(), text_of(id), "ids"), testing::Each(text_of(id)));
  }
  first->finish();
  second->finish();
}

TEST_F(NcclConnect, TheIdIsBroadcastAndAllAreThereBeforeNcclBegins) {
  const auto inner = world().duplicate("a test");
  auto recording = std::make_unique<RecordingCommunicator>(*inner);
  std::vector<std::string> before_init;
  gpu.on_call = [&, host = recording.get()](const std::string& name) {
    if (name != "init") return;
    for (const CollectiveRecord& record : host->records()) {
      before_init.push_back(record.operation + ", " + record.purpose);
    }
  };
  const auto comm = NcclCommunicator::connect(gpu.api(), std::move(recording), options);
  ASSERT_GE(before_init.size(), 2U);
  EXPECT_EQ(before_init[before_init.size() - 2], "broadcast, NCCL's unique id");
  EXPECT_EQ(before_init.back(), "barrier, NCCL's beginning");
  comm->finish();
}

TEST_F(NcclConnect, TheDeviceIsChosenFirst) {
  const auto comm = connect();
  const std::vector<std::string> calls = gpu.calls();
  const auto place_of = [&](const char* name) { return std::ranges::find(calls, name); };
  ASSERT_NE(place_of("set_device"), calls.end());
  EXPECT_LT(place_of("set_device"), place_of("init"));
  EXPECT_LT(place_of("set_device"), std::find(calls.begin() + 1, calls.end(), "create_stream"));
  comm->finish();
}

TEST_F(NcclConnect, TwoRanksOnOneDeviceAreRefusedByName) {
  if (size() == 1) GTEST_SKIP() << "one rank shares with nobody";
  if (rank() == 0 || is_last()) gpu.devices[0].uuid.fill(std::byte{0xAB});
  const auto error = error_of<AgreedError>([&] { connect(); });
  EXPECT_EQ(error.exit_code(), ExitCode::usage);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("ranks 0 and " + last_rank() + " would compute on one GPU"),
                    HasSubstr("GPU-abababab-abab-abab-abab-abababababab of host "),
                    HasSubstr("--gpus-per-node")));
  EXPECT_EQ(gpu.calls_of("unique_id") + gpu.calls_of("init"), 0);
}

TEST_F(NcclConnect, DevicesAreSharedOnlyWithinAHost) {
  EXPECT_NO_THROW(
      refuse_shared_devices({{"a", "GPU-1", ""}, {"b", "GPU-1", ""}, {"a", "GPU-2", ""}}));
  EXPECT_THAT(error_of<UsageError>([] {
                refuse_shared_devices({{"a", "GPU-1", ""},
                                       {"b", "GPU-1", ""},
                                       {"b", "GPU-1", ""},
                                       {"b", "GPU-2", ""},
                                       {"a", "GPU-1", ""},
                                       {"b", "GPU-1", ""}});
              }).what(),
              AllOf(HasSubstr("ranks 0 and 4 would compute on one GPU, GPU-1 of host a"),
                    HasSubstr("ranks 1 and 2 and 5 would compute on one GPU, GPU-1 of host b"),
                    Not(HasSubstr("GPU-2"))));
}

TEST_F(NcclConnect, ADeviceThatOneRankCannotUseEndsAll) {
  if (is_last()) options.device = 5;
  EXPECT_THAT(error_of<AgreedError>([&] { connect(); }).what(),
              AllOf(HasSubstr("use GPU 5"), HasSubstr("this process sees 1 GPU"),
                    HasSubstr("CUDA_VISIBLE_DEVICES")));
  EXPECT_EQ(gpu.calls_of("init"), 0);
}

TEST_F(NcclConnect, ADeviceThatFailsOnOneRankEndsAllWithCudasText) {
  if (is_last()) gpu.api().cuda.set_device = [](int) { return out_of_order; };
  EXPECT_THAT(error_of<AgreedError>([&] { connect(); }).what(),
              AllOf(HasSubstr("use GPU 0"), HasSubstr("stand-in CUDA error 999")));
}

TEST_F(NcclConnect, WhereRank0CannotBeginNobodyDoes) {
  gpu.nccl().faults.unique_id = NcclStatus::system_error;
  EXPECT_THAT(error_of<AgreedError>([&] { connect(); }).what(),
              AllOf(HasSubstr("begin with NCCL: rank 0 of "), HasSubstr("stand-in error 2"),
                    HasSubstr("NCCL_SOCKET_IFNAME")));
  EXPECT_EQ(gpu.calls_of("init"), 0);
}

// The rank that fails says why at once, which ends a job; those that wait for it end by themselves.
TEST_F(NcclConnect, AnInitThatFailsOnOneRankEndsAll) {
  clock.go_on();
  options.now = clock.now();
  if (is_last()) gpu.nccl().faults.init = NcclStatus::system_error;
  const std::string error = error_of([&] { connect(); }).what();
  EXPECT_THAT(error, HasSubstr(is_last() ? "stand-in error 2: the stand-in's last words"
                                         : "not done within 300 s"));
  EXPECT_THAT(error, AllOf(HasSubstr("rank " + std::to_string(rank()) + " of "),
                           HasSubstr("on host "), HasSubstr("NCCL_DEBUG=INFO"),
                           HasSubstr("NCCL_SOCKET_IFNAME"), HasSubstr("NCCL_IB_DISABLE")));
}

TEST_F(NcclConnect, AnInitThatNeverCompletesEndsAtItsDeadline) {
  clock.go_on();
  options.now = clock.now();
  options.setup_deadline = std::chrono::seconds(30);
  if (is_last()) gpu.nccl().faults.init_never_completes = true;
  EXPECT_THAT(error_of([&] { connect(); }).what(),
              AllOf(HasSubstr("connect the GPUs by NCCL"), HasSubstr("not done within 30 s")));
  EXPECT_EQ(gpu.calls_of("abort"), 1);
}

TEST_F(NcclConnect, AnIdThatRanksDoNotShareIsNoticed) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  // As if the broadcast had brought the last rank another one.
  if (is_last()) {
    gpu.api().nccl.init = [init = gpu.api().nccl.init](NcclComm* comm, int ranks,
                                                       const NcclUniqueId& id, int rank) {
      NcclUniqueId other = id;
      other[0] ^= std::byte{1};
      return init(comm, ranks, other, rank);
    };
  }
  EXPECT_THAT(error_of([&] { connect(); }).what(), HasSubstr("stand-in error 5"));
}

}  // namespace
}  // namespace lockstep
