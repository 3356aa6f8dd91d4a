#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "lockstep/cuda/nccl_communicator.hpp"
#include "lockstep/ddp/replica_sync.hpp"
#include "lockstep/train/host_copy.hpp"
#include "lockstep/train/predictions.hpp"
#include "lockstep/train/train_state.hpp"

#include "support/gpu_pair.hpp"
#include "unit/train/step_fixture.hpp"

// Training on a device that is not the CPU, by a stand-in for LibTorch's side of a GPU together
// with one for CUDA's and NCCL's.

namespace lockstep {
namespace {

using test::ListDataset;
using test::network;
using test::pictures;
using test::sgd;
using test::stand_in_device;
using test::Training;

const Precision float64{.parameters = DType::float64};
const StepOptions clipped{.max_grad_norm = 0.5, .label_smoothing = 0.1};
const ReplicaOptions extras{.loss_scaling = GradScalerOptions{.initial_scale = 1024.0},
                            .ema_decay = 0.9};
const BatchPlan plan{.global_batch = 8, .grad_accum_steps = 2};

/// The ranks of the test, with gradients summed by a stand-in for NCCL.
class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    at::set_num_threads(1);
    test::make_one_gpu(gpu_);
  }
  void TearDown() override { gpu_.finish(); }

  std::unique_ptr<Communicator> nccl() {
    NcclOptions options;
    options.poll_interval = std::chrono::milliseconds(1);
    return NcclCommunicator::connect(gpu_.api(), world_->duplicate("a test"), options);
  }
  Training on_device(DType dtype) {
    return {network(dtype, stand_in_device()),
            sgd("0.9"),
            {.parameters = dtype},
            clipped,
            extras,
            nccl()};
  }

  std::unique_ptr<Communicator> world_ = MpiCommunicator::duplicate_world();
  GpuStandIn gpu_{*world_, /*communicators=*/2, /*largest_message=*/1 << 20};
};

void expect_near(const at::Tensor& found, const at::Tensor& expected) {
  EXPECT_EQ(found.device(), stand_in_device());
  EXPECT_TRUE(at::allclose(found.cpu(), expected, 1e-12, 1e-12))
      << found.cpu().sub(expected).abs().max().item<double>();
}

void expect_same(Replica& found, Replica& expected) {
  expect_near(found.parameters().values(), expected.parameters().values());
  expect_near(found.buffers().values(), expected.buffers().values());
  expect_near(found.optimizer().state().at(0).flat, expected.optimizer().state().at(0).flat);
  expect_near(found.average()->values(), expected.average()->values());
  EXPECT_TRUE(found.buffers().counter_values().cpu().equal(expected.buffers().counter_values()));
  EXPECT_EQ(found.optimizer().applied_steps(), expected.optimizer().applied_steps());
  EXPECT_EQ(found.scaler()->state().scale, expected.scaler()->state().scale);
}

void expect_same_training(Training& device, float value) {
  Training cpu(network(DType::float64, at::kCPU), sgd("0.9"), float64, clipped, extras);
  const auto found = device.train(pictures(value), plan, 0.05);
  const auto expected = cpu.train(pictures(value), plan, 0.05);
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].applied, i != 1 || !std::isnan(value));
    EXPECT_EQ(found[i].loss_scale, expected[i].loss_scale);
    if (!found[i].applied) continue;
    EXPECT_NEAR(found[i].grad_norm, expected[i].grad_norm, 1e-12);
  }
  expect_same(device.replica, cpu.replica);
  EXPECT_EQ(device.tally.correct, cpu.tally.correct);
  EXPECT_EQ(device.tally.nonfinite, cpu.tally.nonfinite);
  EXPECT_EQ(device.tally.samples, cpu.tally.samples);
  EXPECT_TRUE(replicas_equal(replica_tensors(device.replica.parameters(), device.replica.buffers()),
                             *cpu.comm));
}

TEST_F(DeviceTest, TrainsAsOnTheCpu) {
  Training training = on_device(DType::float64);
  expect_same_training(training, 0.5F);
}

TEST_F(DeviceTest, SkipsABadStepAsOnTheCpu) {
  Training training = on_device(DType::float64);
  expect_same_training(training, std::numeric_limits<float>::quiet_NaN());
}

TEST_F(DeviceTest, NothingInAStepWaitsForTheDevice) {
  Training training = on_device(DType::float32);
  const ListDataset data = pictures(std::numeric_limits<float>::infinity());
  const std::int64_t before = test::host_waits();
  const std::int64_t copies = test::copies_beside();
  const std::vector<StepResult> results = training.issue(data, plan, 0.05);
  const HostCopy copy(results.at(1).numbers);
  EXPECT_EQ(test::host_waits(), before);
  EXPECT_GT(test::copies_beside(), copies);
  EXPECT_FALSE(report_of(copy.wait().first(StepResult::fields)).applied);
  EXPECT_EQ(test::host_waits(), before);
  EXPECT_TRUE(report_of(results.at(2)).applied);
  EXPECT_GT(test::host_waits(), before);
}

TEST_F(DeviceTest, EvaluatesAndPredictsAsOnTheCpu) {
  const std::unique_ptr<Model> device = network(DType::float64, stand_in_device());
  const std::unique_ptr<Model> cpu = network(DType::float64, at::kCPU);
  const ListDataset data = pictures();
  const auto evaluated = [&](Model& model) {
    Loader loader(data, {.global_batch = 10}, SampleOrder::sequential, 0, world_->rank(),
                  world_->size(), {.num_workers = 1});
    return evaluate(model, float64, loader, *world_);
  };
  const Evaluation found = evaluated(*device);
  const Evaluation expected = evaluated(*cpu);
  EXPECT_NEAR(found.tally.loss_sum, expected.tally.loss_sum, 1e-10);
  EXPECT_EQ(found.tally.correct, expected.tally.correct);
  EXPECT_EQ(found.tally.samples, 24);
  EXPECT_EQ(found.confusion.counts, expected.confusion.counts);

  const auto predicted = [&](Model& model) {
    return predict_rows(model, float64, data, {.start = 3, .count = 9}, 4, {});
  };
  const Predictions scores = predicted(*device);
  EXPECT_EQ(scores.logits, predicted(*cpu).logits);
  EXPECT_EQ(scores.predicted, predicted(*cpu).predicted);
}

// What a copy reads is not written again before it is done, however many batches there are.
TEST_F(DeviceTest, ABatchIsReadBeforeItsMemoryIsUsedAgain) {
  const ListDataset data = pictures();
  const BatchUpload upload(stand_in_device(), DType::float32);
  Loader loader(data, {.global_batch = 2}, SampleOrder::sequential, 0, 0, 1,
                {.num_workers = 1, .prefetch = 1});
  loader.start_epoch(0);
  std::int64_t id = 0;
  while (std::optional<Batch> batch = loader.next()) {
    const DeviceBatch there = upload(*batch);
    EXPECT_NE(batch->reading, nullptr);
    loader.recycle(std::move(*batch));
    std::vector<float> expected(64);
    EXPECT_EQ(there.labels.cpu()[0].item<std::int64_t>(), data.read(id, expected));
    const at::Tensor first = there.images.cpu()[0].contiguous();
    EXPECT_EQ(first.const_data_ptr<float>()[5], expected[5]);
    id += 2;
  }
  EXPECT_EQ(id, 24);
}

}  // namespace
}  // namespace lockstep
