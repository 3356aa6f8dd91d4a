#include "lockstep/train/train_state.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/self_communicator.hpp"
#include "lockstep/io/checkpoint_file.hpp"

#include "unit/io/shared_directory.hpp"
#include "unit/train/step_fixture.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t seed = 7;

/// A few tensors of every kind: weights, a norm's and its buffers.
class SmallModel : public Model {
 public:
  explicit SmallModel(double value, std::int64_t classes = 3)
      : weight_(tensors_.add_parameter("fc.weight", at::full({classes, 4}, value))),
        norm_(batch_norm()(tensors_, "norm", 4)) {}

  at::Tensor forward(const at::Tensor& images) override {
    return at::linear(norm_->forward(images, true).flatten(1), weight_);
  }
  std::vector<NamedTensor> parameters() const override { return tensors_.parameters(); }
  std::vector<NamedTensor> buffers() const override { return tensors_.buffers(); }
  void set_training(bool /*training*/) override {}

 private:
  NetworkTensors tensors_;
  at::Tensor weight_;
  std::unique_ptr<Norm> norm_;
};

Replica small_replica(double value, std::int64_t classes = 3) {
  return {std::make_unique<SmallModel>(value, classes),
          test::sgd("0.9"),
          {.loss_scaling = {}, .ema_decay = 0.5}};
}

class TrainState : public SharedDirectoryTest {
 protected:
  void save(Replica& replica, const LoopState& loop) { save(replica, loop, comm()); }

  void save(Replica& replica, const LoopState& loop, Communicator& writers) {
    const StateSnapshot snapshot(replica, loop, MetricsHistory(), writers.size());
    io_.run([&] {
      write_checkpoint(file(), {.arrays = snapshot.arrays(), .attributes = {}, .groups = {}},
                       writers);
    });
  }

  LoopState load(Replica& replica) {
    LoopState loop;
    MetricsHistory history;
    std::optional<CheckpointReader> reader;
    io_.run([&] { reader.emplace(file(), comm()); });
    restore_state(*reader, io_, comm(), replica, loop, history);
    io_.run([&] { reader.reset(); });
    return loop;
  }

  std::filesystem::path file() const { return directory() / "state.h5"; }

  IoThread io_;
};

/// All tensors of a replica, copied; without what pads the flat buffers.
std::vector<at::Tensor> tensors_of(Replica& replica) {
  std::vector<at::Tensor> flat{replica.parameters().values(), replica.average()->values()};
  for (const OptimizerState& state : replica.optimizer().state()) flat.push_back(state.flat);
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& buffer : flat) {
    for (const NamedTensor& view : replica.parameters().layout().views(buffer)) {
      tensors.push_back(view.tensor.clone());
    }
  }
  for (const NamedTensor& buffer : replica.model().buffers()) {
    tensors.push_back(buffer.tensor.clone());
  }
  return tensors;
}

void expect_same(const std::vector<at::Tensor>& one, const std::vector<at::Tensor>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(at::equal(one[i], other[i])) << i;
}

TEST_F(TrainState, EveryRankGetsItsOwnRandomNumbersBack) {
  Replica replica = small_replica(1);
  seed_generators(seed, rank(), at::kCPU);
  at::rand({rank() + 3});  // ranks stand at different places of different sequences
  save(replica, {});
  const at::Tensor next = at::rand({5});
  seed_generators(seed + 1, 0, at::kCPU);
  load(replica);
  EXPECT_TRUE(at::equal(at::rand({5}), next));

  std::vector<float> mine(next.data_ptr<float>(), next.data_ptr<float>() + next.numel());
  std::vector<float> all(mine.size() * static_cast<std::size_t>(size()));
  comm().all_gather(buffer_of(std::span(mine)), buffer_of(std::span(all)), "test");
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    EXPECT_NE(all[static_cast<std::size_t>(other) * mine.size()], mine[0]) << other;
  }
}

TEST_F(TrainState, RanksThatAFileDoesNotKnowKeepTheirOwnRandomNumbers) {
  Replica replica = small_replica(1);
  seed_generators(seed, 0, at::kCPU);
  on_rank_0([&] {
    SelfCommunicator alone;
    save(replica, {}, alone);
  });
  const at::Tensor rank_0s = at::rand({5});
  seed_generators(seed, rank() + 1, at::kCPU);
  load(replica);
  const at::Tensor drawn = at::rand({5});
  seed_generators(seed, rank() + 1, at::kCPU);
  EXPECT_TRUE(at::equal(drawn, rank() == 0 ? rank_0s : at::rand({5})));
}

TEST_F(TrainState, IsCompleteBeforeTheFirstStepAndLoadsTwice) {
  Replica fresh = small_replica(1);
  LoopState loop;
  loop.horizon = {.epochs = 3, .samples = 120};
  save(fresh, loop);

  Replica other = small_replica(2);
  other.parameters().gradients().fill_(1.0);
  other.optimizer().step(0.1);
  const std::vector<at::Tensor> expected = tensors_of(fresh);
  for (int time = 0; time < 2; ++time) {
    const LoopState loaded = load(other);
    EXPECT_EQ(loaded.position.global_step, 0);
    EXPECT_EQ(loaded.horizon.samples, 120);
    EXPECT_EQ(other.optimizer().applied_steps(), 0);
    expect_same(tensors_of(other), expected);
  }

  // What was loaded takes the step that the fresh one would have taken.
  for (Replica* replica : {&fresh, &other}) {
    replica->parameters().gradients().fill_(0.5);
    replica->optimizer().step(0.1);
  }
  expect_same(tensors_of(other), tensors_of(fresh));
}

TEST_F(TrainState, ThatDoesNotFitNamesTheTensorOnAllRanks) {
  Replica replica = small_replica(1);
  save(replica, {});
  Replica wider = small_replica(1, 4);
  const std::string error = common_error([&] { load(wider); });
  EXPECT_NE(error.find("/model/fc.weight"), std::string::npos) << error;
}

TEST_F(TrainState, OfAnotherNetworkIsToldBeforeItIsRead) {
  Replica replica = small_replica(1);
  save(replica, {});
  std::optional<CheckpointReader> reader;
  io_.run([&] { reader.emplace(file(), comm()); });
  EXPECT_EQ(model_misfit(*reader, replica.model(), /*averaged=*/false), "");
  EXPECT_EQ(model_misfit(*reader, replica.model(), /*averaged=*/true), "");
  EXPECT_EQ(model_misfit(*reader, SmallModel(1, 4), /*averaged=*/false),
            "/model/fc.weight is to be float32 [4, 4], but the file holds float32 [3, 4]");
  io_.run([&] { reader.reset(); });

  Replica without_average(std::make_unique<SmallModel>(1), test::sgd("0.9"), {});
  save(without_average, {});
  io_.run([&] { reader.emplace(file(), comm()); });
  EXPECT_EQ(model_misfit(*reader, replica.model(), /*averaged=*/true),
            "/ema/fc.weight is to be float32 [3, 4], but is not there");
  io_.run([&] { reader.reset(); });
}

}  // namespace
}  // namespace lockstep
