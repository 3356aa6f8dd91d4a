#include "lockstep/train/run_writer.hpp"

#include <atomic>
#include <cstring>
#include <future>

#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include "lockstep/base/error.hpp"
#include "lockstep/io/checkpoint_file.hpp"

#include "unit/io/shared_directory.hpp"
#include "unit/train/step_fixture.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;

class RunWriterTest : public SharedDirectoryTest {
 protected:
  RunWriterTest() : run_(directory()) {
    if (rank() == 0) run_.create();
    comm().barrier("test");
  }

  RunWriter writer() {
    return RunWriter({.options = options_,
                      .directory = run_,
                      .groups = groups_,
                      .comm = *files_,
                      .io = io_,
                      .log = log_,
                      .seconds = seconds_,
                      .moved = [this] { moved_(); }});
  }

  /// A checkpoint of `step`, of a network whose weights have that value.
  void save(RunWriter& writer, std::int64_t step) {
    replica_.model().parameters()[0].tensor.detach().fill_(static_cast<double>(step));
    writer.save_checkpoint(
        std::make_unique<StateSnapshot>(replica_, LoopState(), MetricsHistory(), size()), step,
        MetricsHistory(), seconds_());
  }

  std::filesystem::path checkpoint(std::int64_t step) const {
    return CheckpointStore(run_.checkpoints()).path(step);
  }

  double weight_in(std::int64_t step) {
    return io_.run([&] {
      ArrayFileReader reader(checkpoint(step), checkpoint_format(), *files_);
      const std::vector<std::byte> bytes = reader.read("/model/weight");
      float weight = 0;
      std::memcpy(&weight, bytes.data(), sizeof weight);
      return weight;
    });
  }

  TrainOptions options_;
  std::vector<SettingsGroup> groups_;
  Log log_{/*rank=*/1};  // silent
  std::atomic<double> now_ = 0.0;
  std::function<double()> seconds_ = [this] { return now_.load(); };
  std::function<void()> moved_ = [] {};  // on the IO thread
  RunDirectory run_;
  std::unique_ptr<Communicator> files_ = comm().duplicate("files");
  IoThread io_;
  Replica replica_{std::make_unique<test::LinearModel>(at::full({2, 3}, 0.0F)), test::sgd("0"), {}};
};

TEST_F(RunWriterTest, WritesBehindTheTrainingWhatItWasThen) {
  std::promise<void> go_on;
  moved_ = [told = go_on.get_future().share()] { told.wait(); };
  RunWriter writer = this->writer();
  save(writer, 1);
  // The training goes on, and changes the weights, before the first byte is written.
  EXPECT_FALSE(writer.look());
  EXPECT_FALSE(std::filesystem::exists(checkpoint(1)));
  replica_.model().parameters()[0].tensor.detach().fill_(7.0);
  go_on.set_value();
  writer.finish();
  EXPECT_EQ(weight_in(1), 1.0);
}

TEST_F(RunWriterTest, TheNextCheckpointWaitsForTheLast) {
  RunWriter writer = this->writer();
  save(writer, 1);
  save(writer, 2);
  // The second is under way at most; the first is there.
  EXPECT_TRUE(std::filesystem::exists(checkpoint(1)));
  writer.finish();
  EXPECT_EQ(weight_in(1), 1.0);
  EXPECT_EQ(weight_in(2), 2.0);
}

TEST_F(RunWriterTest, OnDemandItIsThereBeforeTheTrainingGoesOn) {
  options_.checkpoint_write = "sync";
  RunWriter writer = this->writer();
  save(writer, 3);
  EXPECT_TRUE(std::filesystem::exists(checkpoint(3)));
}

TEST_F(RunWriterTest, AFailureIsSeenByLookAndThrownOnAllRanksAsOftenAsItIsAskedFor) {
  on_rank_0([&] { std::filesystem::remove_all(run_.checkpoints()); });
  RunWriter writer = this->writer();
  save(writer, 4);
  writer.settle();
  EXPECT_TRUE(writer.look());
  EXPECT_TRUE(writer.look());
  EXPECT_THAT(common_error([&] { writer.finish(); }), HasSubstr(checkpoint(4).string()));
}

TEST_F(RunWriterTest, KnowsTheLongestTimeACheckpointTook) {
  moved_ = [this] { now_.store(now_.load() + 1.0); };
  RunWriter writer = this->writer();
  EXPECT_EQ(writer.longest_checkpoint_seconds(), 0.0);
  save(writer, 5);
  writer.finish();
  const double first = writer.longest_checkpoint_seconds();
  EXPECT_GE(first, 1.0);
  moved_ = [] {};
  save(writer, 6);
  writer.finish();
  EXPECT_EQ(writer.longest_checkpoint_seconds(), first);
}

}  // namespace
}  // namespace lockstep
