// Lockstep's training beside PyTorch's: the same initial weights and batches must give the same
// losses, gradients and weights. reference.py made the numbers; README.md describes them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include "lockstep/base/narrow.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/data/sampler.hpp"
#include "lockstep/ddp/gradient_reducer.hpp"
#include "lockstep/ddp/replica_sync.hpp"
#include "lockstep/io/hdf5_file.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/model/mini_resnet.hpp"
#include "lockstep/optim/sgd.hpp"
#include "lockstep/train/outcomes.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/training_step.hpp"

namespace lockstep {
namespace {

constexpr double learning_rate = 0.01;
constexpr std::int64_t sampled_elements = 64;

class Reference {
 public:
  std::vector<double> reals(const std::string& path) { return read<double>(path, DType::float64); }
  std::vector<std::int64_t> integers(const std::string& path) {
    return read<std::int64_t>(path, DType::int64);
  }

 private:
  template <typename T>
  std::vector<T> read(const std::string& path, DType dtype) {
    return io_.run([&] {
      const Hdf5File file(LOCKSTEP_PARITY_REFERENCE);
      std::int64_t count = 1;
      for (const std::int64_t extent : file.shape(path)) count *= extent;
      std::vector<T> values(narrow<std::size_t>(count));
      file.read(path, dtype, std::as_writable_bytes(std::span(values)));
      return values;
    });
  }

  IoThread io_;
};

struct Case {
  const char* group;  // of the reference file
  const char* norm;
  std::int64_t accumulation;
};

void set(FieldTable fields, const std::string& name, const std::string& value) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.name() == name; });
  ASSERT_NE(found, fields.end()) << name;
  ASSERT_EQ(found->assign(value), std::nullopt) << name;
}

Replica make_replica(const char* norm, DType dtype, MemoryFormat format) {
  MiniResNetBuilder builder;
  set(builder.fields(), "norm", norm);
  std::unique_ptr<Model> model =
      builder.build({.in_channels = 1, .num_classes = 10, .image_size = 8}, /*seed=*/42);
  convert(*model, dtype, format);
  SgdBuilder sgd;
  set(sgd.fields(), "momentum", "0.9");
  set(sgd.fields(), "weight_decay", "0.0001");
  return {std::move(model), sgd};
}

// One rank's share of a micro-batch, cut from the whole window's images and labels.
Batch batch_of(const MicroBatch& micro_batch, std::span<const double> images,
               std::span<const std::int64_t> labels, Communicator& comm) {
  const ImageShape shape{.channels = 1, .height = 8, .width = 8};
  const SampleRange share = share_of(micro_batch.range, comm.rank(), comm.size());
  const auto first = narrow<std::size_t>(share.first);
  const auto count = narrow<std::size_t>(share.samples);
  const auto pixels = narrow<std::size_t>(shape.size());
  Batch batch;
  batch.micro_batch = micro_batch;
  batch.samples = share.samples;
  batch.image_shape = shape;
  for (const double pixel : images.subspan(first * pixels, count * pixels)) {
    batch.images.push_back(static_cast<float>(pixel));  // sixteenths: exact
  }
  const auto own = labels.subspan(first, count);
  batch.labels.assign(own.begin(), own.end());
  return batch;
}

// A window through forward, backward and reduction, without the update.
double gradient_of_window(TrainingStep& step, const BatchPlan& plan, std::span<const double> images,
                          std::span<const std::int64_t> labels, Communicator& comm) {
  const SampleRange window{.first = 0, .samples = std::ssize(labels)};
  step.begin_window(rank_samples(window, plan, comm.rank(), comm.size()), window.samples);
  Tally tally;
  for (const MicroBatch& micro_batch : micro_batches(window, plan)) {
    Batch batch = batch_of(micro_batch, images, labels, comm);
    tally += tally_of(step.run_micro_batch(batch));
  }
  return reduced(comm, tally, "test").mean_loss();
}

// A tensor's sum, sum of squares and 64 evenly spaced elements, as the reference stores them.
std::vector<double> digest(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kDouble).contiguous().view(-1);
  std::vector<double> values{flat.sum().item<double>(), flat.square().sum().item<double>()};
  const double* elements = flat.const_data_ptr<double>();
  for (std::int64_t i = 0; i < sampled_elements; ++i) {
    values.push_back(elements[i * flat.numel() / sampled_elements]);
  }
  return values;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << what << ", value " << i;
  }
}

void expect_tensors(Reference& reference, const std::string& group,
                    const std::vector<NamedTensor>& tensors, double tolerance) {
  for (const NamedTensor& named : tensors) {
    expect_near(digest(named.tensor), reference.reals(group + "/" + named.name), tolerance,
                group + "/" + named.name);
  }
}

std::vector<NamedTensor> gradients_of(const Model& model) {
  std::vector<NamedTensor> gradients;
  for (const NamedTensor& parameter : model.parameters()) {
    gradients.push_back({parameter.name, parameter.tensor.grad()});
  }
  return gradients;
}

void expect_same_training(const Case& trial) {
  at::set_num_threads(1);
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  Reference reference;
  const std::string group = "/" + std::string(trial.group);
  const std::vector<double> images = reference.reals("/batches/images");
  const std::vector<std::int64_t> labels = reference.integers("/batches/labels");
  const std::vector<double> losses = reference.reals(group + "/loss");
  const std::size_t window = labels.size() / losses.size();
  ASSERT_EQ(losses.size(), 20U);

  Replica replica = make_replica(trial.norm, DType::float64, MemoryFormat::channels_last);
  expect_tensors(reference, group + "/initial", replica.model().parameters(), 1e-12);
  GradientReducer reducer(replica.parameters(), replica.buffers(), *comm, {});
  TrainingStep step(replica, reducer, {.parameters = DType::float64});
  const BatchPlan plan{.global_batch = std::ssize(labels) / std::ssize(losses),
                       .grad_accum_steps = trial.accumulation};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double loss =
        gradient_of_window(step, plan, std::span(images).subspan(i * window * 64, window * 64),
                           std::span(labels).subspan(i * window, window), *comm);
    ASSERT_NEAR(loss, losses[i], 1e-10) << "step " << i + 1;
    step.finish_window(learning_rate);
    if (i == 0) {
      expect_tensors(reference, group + "/first_gradient", gradients_of(replica.model()), 1e-10);
    }
    ASSERT_TRUE(replicas_equal(replica_tensors(replica.parameters(), replica.buffers()), *comm))
        << "step " << i + 1;
  }
  expect_tensors(reference, group + "/final", replica.model().parameters(), 1e-10);
  if (comm->size() <= 2) {
    expect_tensors(reference, group + "/final", replica.model().buffers(), 1e-10);
  }
}

int world_size() {
  return MpiCommunicator::duplicate_world()->size();
}

// Batch norm sees a rank's share of a micro-batch, so its numbers belong to a number of ranks.
TEST(Parity, BatchNormTrainsAsInPyTorchAndDdp) {
  if (world_size() == 1) expect_same_training({"bn_1", "batch", 1});
  if (world_size() == 2) expect_same_training({"bn_2", "batch", 1});
  if (world_size() > 2) GTEST_SKIP() << "PyTorch ran on one and two ranks";
}

TEST(Parity, AccumulatedBatchNormTrainsAsUnderNoSync) {
  if (world_size() != 2) GTEST_SKIP() << "PyTorch ran on two ranks";
  expect_same_training({"bn_2_accum_2", "batch", 2});
}

// Group norm mixes no samples: one reference for any number of ranks and micro-batches.
TEST(Parity, GroupNormTrainsAsOnePyTorchProcess) {
  expect_same_training({"gn_1", "group", 1});
}

TEST(Parity, AccumulatedGroupNormTrainsAsOnePyTorchProcess) {
  expect_same_training({"gn_1", "group", 4});
}

// Float32 runs drift apart by rounding, so one step's gradient is compared, in the same memory
// format, on samples that leave no ReLU undecided.
TEST(Parity, Float32GradientIsPyTorchs) {
  if (world_size() > 1) GTEST_SKIP() << "one rank's gradient";
  at::set_num_threads(1);
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  Reference reference;
  const std::vector<double> images = reference.reals("/small_batch/images");
  const std::vector<std::int64_t> labels = reference.integers("/small_batch/labels");
  for (const auto& [group, format] :
       {std::pair("/fp32_contiguous", MemoryFormat::contiguous),
        std::pair("/fp32_channels_last", MemoryFormat::channels_last)}) {
    Replica replica = make_replica("batch", DType::float32, format);
    GradientReducer reducer(replica.parameters(), replica.buffers(), *comm, {});
    TrainingStep step(replica, reducer, {.parameters = DType::float32});
    const double loss =
        gradient_of_window(step, {.global_batch = std::ssize(labels)}, images, labels, *comm);
    reducer.finish();
    EXPECT_NEAR(loss, reference.reals(std::string(group) + "/loss")[0], 1e-5);
    double difference = 0.0;
    double norm = 0.0;
    for (const NamedTensor& gradient : gradients_of(replica.model())) {
      const std::vector<double> found = digest(gradient.tensor);
      const std::vector<double> expected =
          reference.reals(std::string(group) + "/first_gradient/" + gradient.name);
      for (std::size_t i = 2; i < found.size(); ++i) {
        difference += (found[i] - expected[i]) * (found[i] - expected[i]);
        norm += expected[i] * expected[i];
      }
    }
    EXPECT_LT(std::sqrt(difference / norm), 1e-5) << group;
  }
}

// Bfloat16 keeps 8 bits: a loose look at whether autocast does what PyTorch's does.
TEST(Parity, AutocastLossIsNearPyTorchs) {
  if (world_size() > 1) GTEST_SKIP() << "one rank's gradient";
  at::set_num_threads(1);
  const std::unique_ptr<Communicator> comm = MpiCommunicator::duplicate_world();
  Reference reference;
  const std::vector<double> images = reference.reals("/batches/images");
  const std::vector<std::int64_t> labels = reference.integers("/batches/labels");
  Replica replica = make_replica("batch", DType::float32, MemoryFormat::channels_last);
  GradientReducer reducer(replica.parameters(), replica.buffers(), *comm, {});
  TrainingStep step(replica, reducer, {.parameters = DType::float32, .autocast = true});
  const double loss =
      gradient_of_window(step, {.global_batch = 32}, std::span(images).first(32 * 64),
                         std::span(labels).first(32), *comm);
  reducer.finish();
  const double expected = reference.reals("/bf16_channels_last/loss")[0];
  EXPECT_NEAR(loss, expected, 0.01 * expected);
}

}  // namespace
}  // namespace lockstep
