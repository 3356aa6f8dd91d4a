#include "lockstep/ddp/replica_sync.hpp"

#include <cmath>
#include <span>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "lockstep/comm/mpi_communicator.hpp"

#include "unit/ddp/replica.hpp"

namespace lockstep {
namespace {

using test::Batch;
using test::for_each_share;
using test::make_batch;
using test::make_model;
using test::Replica;

class ReplicaSyncTest : public testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }

  bool equal(const Replica& replica) {
    return replicas_equal(replica_tensors(replica.parameters, replica.buffers), *comm_);
  }

  std::unique_ptr<MpiCommunicator> comm_ = MpiCommunicator::duplicate_world();
};

TEST_F(ReplicaSyncTest, BroadcastGivesRankZerosModel) {
  const auto rank = static_cast<std::uint64_t>(comm_->rank());
  Replica replica(make_model(batch_norm(), DType::float64, rank), *comm_);
  replica.buffers.values().fill_(static_cast<double>(rank));
  replica.buffers.counters()[0].fill_(comm_->rank() + 5);
  EXPECT_EQ(equal(replica), comm_->size() == 1);

  broadcast_replica(replica.parameters, replica.buffers, *comm_);
  EXPECT_TRUE(equal(replica));
  const auto first = make_model(batch_norm(), DType::float64, 0);
  EXPECT_TRUE(replica.model->parameters()[0].tensor.equal(first->parameters()[0].tensor));
  EXPECT_EQ(replica.model->buffers()[0].tensor[0].item<double>(), 0.0);
  EXPECT_EQ(replica.buffers.counters()[0].item<std::int64_t>(), 5);
}

TEST_F(ReplicaSyncTest, NoticesOneBitOfDifference) {
  at::Tensor tensor = at::zeros({1000}, at::kDouble);
  EXPECT_TRUE(replicas_equal(std::span(&tensor, 1), *comm_));
  if (comm_->rank() == comm_->size() - 1) tensor[567] = -0.0;
  EXPECT_EQ(replicas_equal(std::span(&tensor, 1), *comm_), comm_->size() == 1);
}

TEST_F(ReplicaSyncTest, ReplicasStayEqualToTheBitThroughTraining) {
  Replica replica(make_model(batch_norm(), DType::float32), *comm_);
  std::int64_t batches = 0;
  std::int64_t start = 0;
  // Uneven shares, empty ones, and a step of one sample.
  for (const std::int64_t samples : {12, 7, 5, 2, 1}) {
    batches += replica.run_window(make_batch(samples, start, at::kFloat), 2, *comm_);
    start += samples;
    replica.parameters.values().sub_(replica.parameters.gradients(), 0.1);
    EXPECT_TRUE(equal(replica)) << "after a window of " << samples;
    EXPECT_TRUE(replica.buffers.values().isfinite().all().item<bool>());
    for (const at::Tensor& counter : replica.buffers.counters()) {
      EXPECT_EQ(counter.item<std::int64_t>(), batches);
    }
  }
}

TEST_F(ReplicaSyncTest, RunningBuffersAreTheMeanOverRanksWeightedBySamples) {
  const Batch batch = make_batch(7);
  Replica replica(make_model(batch_norm()), *comm_);
  // Small beside the batch's statistics: taking the change and adding it back would round.
  replica.buffers.values().fill_(1.0 / 3000.0);
  replica.run_window(batch, 2, *comm_);

  // A model of this rank alone sees the same shares; its buffers count by its samples.
  const auto alone = make_model(batch_norm());
  const FlatBuffers buffers(alone->buffers());
  buffers.values().fill_(1.0 / 3000.0);
  std::int64_t samples = 0;
  for_each_share(batch, 2, *comm_, [&](const Batch& share, bool) {
    if (share.samples() > 0) alone->forward(share.images);
    samples += share.samples();
  });
  at::Tensor mean = buffers.values() * (static_cast<double>(samples) / 7.0);
  comm_->all_reduce(
      buffer_of(std::span(mean.mutable_data_ptr<double>(), static_cast<std::size_t>(mean.numel()))),
      ReduceOp::sum, "test");
  EXPECT_LT((replica.buffers.values() - mean).abs().max().item<double>(), 1e-13);
  // One rank's buffers are not touched at all.
  EXPECT_TRUE(comm_->size() > 1 || replica.buffers.values().equal(buffers.values()));
}

TEST_F(ReplicaSyncTest, BuffersThatNoRankMovedStayAsTheyWereToTheBit) {
  Replica replica(make_model(batch_norm()), *comm_);
  replica.buffers.values().fill_(1.0 / 3.0);
  replica.reducer.begin_window(1.0 / comm_->size());
  replica.reducer.begin_micro_batch(true);
  replica.reducer.finish();
  EXPECT_TRUE((replica.buffers.values() == 1.0 / 3.0).all().item<bool>());
}

TEST_F(ReplicaSyncTest, ASkippedStepRestoresTheBuffers) {
  Replica replica(make_model(batch_norm()), *comm_);
  replica.run_window(make_batch(7), 2, *comm_);
  const at::Tensor before = replica.buffers.values().clone();

  Batch poisoned = make_batch(7);
  poisoned.images[0][0][0][0] = std::nan("");
  replica.run_window(poisoned, 2, *comm_);
  EXPECT_FALSE(replica.parameters.gradients().isfinite().all().item<bool>());
  EXPECT_FALSE(replica.buffers.values().isfinite().all().item<bool>());
  const at::Tensor after = replica.buffers.values().clone();
  replica.reducer.restore_buffers_if(at::zeros({}));
  EXPECT_TRUE(replica.buffers.values().isnan().equal(after.isnan()));
  EXPECT_EQ(replica.buffers.counters()[0].item<std::int64_t>(), 4);
  replica.reducer.restore_buffers_if(at::ones({}));
  EXPECT_TRUE(replica.buffers.values().equal(before));
  EXPECT_EQ(replica.buffers.counters()[0].item<std::int64_t>(), 2);
}

}  // namespace
}  // namespace lockstep
