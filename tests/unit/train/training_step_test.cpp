#include "lockstep/train/training_step.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "lockstep/ddp/replica_sync.hpp"

#include "unit/train/step_fixture.hpp"

namespace lockstep {
namespace {

using test::LinearModel;
using test::ListDataset;
using test::network;
using test::pictures;
using test::sgd;
using test::Training;

const Precision float64{.parameters = DType::float64};

// Samples of two values, of two classes.
ListDataset pairs(std::int64_t samples, float factor = 1.0F) {
  std::vector<std::vector<float>> images;
  std::vector<std::int64_t> labels;
  for (std::int64_t id = 0; id < samples; ++id) {
    const auto x = static_cast<float>(id);
    images.push_back({factor * (0.25F * x - 1.0F), factor * (2.0F - 0.5F * x)});
    labels.push_back(id % 3 == 0 ? 1 : 0);
  }
  return {images, labels, {1, 1, 2}};
}

using Weights = std::array<std::array<double, 2>, 2>;  // [class][value]
constexpr Weights start{{{0.1, -0.2}, {0.3, 0.4}}};

std::unique_ptr<Model> linear_model() {
  return std::make_unique<LinearModel>(at::tensor({0.1, -0.2, 0.3, 0.4}, at::kDouble).view({2, 2}));
}

// By hand: the gradient of the mean cross entropy of samples [first, end).
Weights gradient(const Weights& w, const Dataset& data, std::int64_t first, std::int64_t end) {
  Weights sum{};
  for (std::int64_t id = first; id < end; ++id) {
    std::array<float, 2> x{};
    const auto label = static_cast<std::size_t>(data.read(id, x));
    const double a = std::exp(w[0][0] * x[0] + w[0][1] * x[1]);
    const double b = std::exp(w[1][0] * x[0] + w[1][1] * x[1]);
    for (std::size_t c = 0; c < 2; ++c) {
      const double error = (c == 0 ? a : b) / (a + b) - (c == label ? 1.0 : 0.0);
      for (std::size_t i = 0; i < 2; ++i) {
        sum[c][i] += error * x[i] / static_cast<double>(end - first);
      }
    }
  }
  return sum;
}

Weights after_step(Weights w, const Weights& g, double lr) {
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t i = 0; i < 2; ++i) w[c][i] -= lr * g[c][i];
  }
  return w;
}

double norm(const Weights& g) {
  return std::sqrt(g[0][0] * g[0][0] + g[0][1] * g[0][1] + g[1][0] * g[1][0] + g[1][1] * g[1][1]);
}

void expect_weights(Training& training, const Weights& expected) {
  const at::Tensor weight = training.replica.model().parameters().at(0).tensor;
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(weight[c][i].item<double>(),
                  expected[static_cast<std::size_t>(c)][static_cast<std::size_t>(i)], 1e-14);
    }
  }
}

// Ten samples in micro-batches of two: a window of four of them and a short one of the fifth.
TEST(TrainingStep, WeighsAShortWindowByItsOwnSamples) {
  const ListDataset data = pairs(10);
  Training training(linear_model(), sgd(), float64);
  const auto reports = training.train(data, {.global_batch = 8, .grad_accum_steps = 4}, 0.5);
  ASSERT_EQ(reports.size(), 2U);
  const Weights first = gradient(start, data, 0, 8);
  const Weights between = after_step(start, first, 0.5);
  const Weights second = gradient(between, data, 8, 10);
  expect_weights(training, after_step(between, second, 0.5));
  EXPECT_NEAR(reports[0].grad_norm, norm(first), 1e-14);
  EXPECT_NEAR(reports[1].grad_norm, norm(second), 1e-14);
}

// Five micro-batches of two where eight would make a window: one step all the same.
TEST(TrainingStep, WeighsAWindowOfTooFewMicroBatchesByItsOwnSamples) {
  const ListDataset data = pairs(10);
  Training training(linear_model(), sgd(), float64);
  const auto reports = training.train(data, {.global_batch = 16, .grad_accum_steps = 8}, 0.5);
  ASSERT_EQ(reports.size(), 1U);
  expect_weights(training, after_step(start, gradient(start, data, 0, 10), 0.5));
}

TEST(TrainingStep, ClipsTheGradientOfTheWholeWindowToItsNorm) {
  const ListDataset data = pairs(8);
  const Weights g = gradient(start, data, 0, 8);
  Training training(linear_model(), sgd(), float64, {.max_grad_norm = norm(g) / 4.0});
  const auto reports = training.train(data, {.global_batch = 8, .grad_accum_steps = 2}, 0.5);
  EXPECT_NEAR(reports.at(0).grad_norm, norm(g), 1e-14);  // as it was
  // torch.nn.utils.clip_grad_norm_ divides by norm + 1e-6.
  expect_weights(training, after_step(start, g, 0.5 * 0.25 * norm(g) / (norm(g) + 1e-6)));

  Training loose(linear_model(), sgd(), float64, {.max_grad_norm = 4.0 * norm(g)});
  loose.train(data, {.global_batch = 8}, 0.5);
  expect_weights(loose, after_step(start, g, 0.5));
}

// Powers of two change no bit, so a scaled run must end where one without scale does.
TEST(TrainingStep, UnscalesBeforeItClips) {
  const ListDataset data = pairs(24);
  const StepOptions clipped{.max_grad_norm = 0.1};
  const BatchPlan plan{.global_batch = 8, .grad_accum_steps = 2};
  Training plain(linear_model(), sgd("0.9"), float64, clipped);
  Training scaled(linear_model(), sgd("0.9"), float64, clipped,
                  {.loss_scaling = GradScalerOptions{.initial_scale = 1024.0}});
  const auto expected = plain.train(data, plan, 0.5);
  const auto found = scaled.train(data, plan, 0.5);
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].grad_norm, expected[i].grad_norm);
    EXPECT_GT(found[i].grad_norm, 0.1);
    EXPECT_EQ(found[i].loss_scale, 1024.0);
    EXPECT_EQ(expected[i].loss_scale, 1.0);
  }
  EXPECT_TRUE(scaled.replica.parameters().values().equal(plain.replica.parameters().values()));
  EXPECT_EQ(scaled.replica.scaler()->state().growth_tracker, 3);
}

TEST(TrainingStep, SkipsStepsWhoseScaledGradientsOverflow) {
  const ListDataset data = pairs(24, 64.0F);
  Training training(linear_model(), sgd(), float64, {},
                    {.loss_scaling = GradScalerOptions{.initial_scale = 0x1p1020}});
  const auto reports = training.train(data, {.global_batch = 8}, 0.5);
  EXPECT_FALSE(reports.at(0).applied);
  EXPECT_EQ(reports.at(0).loss_scale, 0x1p1020);
  EXPECT_EQ(training.replica.scaler()->state().scale, 0x1p1017);
  EXPECT_EQ(training.replica.optimizer().applied_steps(), 0);
  expect_weights(training, start);
}

// x = logits, by the identity as weights; F.cross_entropy(x, y, reduction="sum",
// label_smoothing=0.1), the loss without smoothing, and the weights after one step of SGD with
// rate 1 on the mean loss, by PyTorch.
const std::vector<std::vector<float>> logits{
    {1.0F, 2.0F, 0.5F}, {-1.0F, 0.25F, 0.125F}, {0.0F, 0.0F, 3.0F}};
constexpr double smooth_loss = 2.7877254225553494;
constexpr double plain_loss = 2.5835587558886823;
const std::vector<double> smooth_weights{
    0.6669555768306469,  -0.06515681742427354, -0.011541815407629873,
    0.2441699581243208,  1.167558721060098,    0.02103392409949143,
    0.08887446504503232, -0.10240190363582445, 0.9905078913081384};

TEST(TrainingStep, SmoothsTheLabelsOfTrainingAlone) {
  const ListDataset data(logits, {1, 0, 2}, {1, 1, 3});
  Training training(std::make_unique<LinearModel>(
                        at::tensor({1., 0., 0., 0., 1., 0., 0., 0., 1.}, at::kDouble).view({3, 3})),
                    sgd(), float64, {.label_smoothing = 0.1});
  Loader loader(data, {.global_batch = 2}, SampleOrder::sequential, 0, training.comm->rank(),
                training.comm->size(), {.num_workers = 0});
  EXPECT_NEAR(evaluate(training.replica.model(), float64, loader, *training.comm).tally.loss_sum,
              plain_loss, 1e-14);
  training.train(data, {.global_batch = 3}, 1.0);
  EXPECT_NEAR(reduced(*training.comm, training.tally, "test").loss_sum, smooth_loss, 1e-14);
  const at::Tensor weight = training.replica.model().parameters().at(0).tensor.detach().view(-1);
  for (std::int64_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(weight[i].item<double>(), smooth_weights[static_cast<std::size_t>(i)], 1e-14);
  }
}

TEST(Evaluation, CountsWhatIsTakenForWhatOverAllRanks) {
  // The highest logits are those of classes 1, 1 and 2.
  const ListDataset data(logits, {1, 0, 2}, {1, 1, 3});
  Training training(std::make_unique<LinearModel>(at::eye(3, at::kDouble)), sgd(), float64);
  Loader loader(data, {.global_batch = 2}, SampleOrder::sequential, 0, training.comm->rank(),
                training.comm->size(), {.num_workers = 0});
  Model& model = training.replica.model();
  const Evaluation evaluation = evaluate(model, float64, loader, *training.comm);
  EXPECT_EQ(evaluation.confusion.classes, 3);
  EXPECT_EQ(evaluation.confusion.counts, (std::vector<std::int64_t>{0, 1, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(evaluation.tally.correct, 2);
}

TEST(Evaluation, MakesNoMatrixOfTooManyClasses) {
  const ListDataset data(logits, {1, 0, 2}, {1, 1, 3});
  const at::Tensor weight = at::ones({most_confusion_classes + 1, 3}, at::kDouble);
  Training training(std::make_unique<LinearModel>(weight), sgd(), float64);
  Loader loader(data, {.global_batch = 2}, SampleOrder::sequential, 0, training.comm->rank(),
                training.comm->size(), {.num_workers = 0});
  const Evaluation evaluation = evaluate(training.replica.model(), float64, loader, *training.comm);
  EXPECT_TRUE(evaluation.confusion.empty());
  EXPECT_EQ(evaluation.tally.samples, 3);
}

struct Whole {
  at::Tensor values, buffers, momentum, average;
  std::vector<std::int64_t> counters;

  explicit Whole(Replica& replica)
      : values(replica.parameters().values().clone()),
        buffers(replica.buffers().values().clone()),
        momentum(replica.optimizer().state().at(0).flat.clone()),
        average(replica.average()->values().clone()) {
    for (const at::Tensor& counter : replica.buffers().counters()) {
      counters.push_back(counter.item<std::int64_t>());
    }
  }
  bool operator==(const Whole& other) const {
    return values.equal(other.values) && buffers.equal(other.buffers) &&
           momentum.equal(other.momentum) && average.equal(other.average) &&
           counters == other.counters;
  }
};

// Only the last rank sees the broken value.
TEST(TrainingStep, SkipsABadStepOnAllRanksAsIfItHadNotBeen) {
  at::set_num_threads(1);
  const BatchPlan plan{.global_batch = 8, .grad_accum_steps = 2};
  for (const float broken :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const ReplicaOptions extras{.loss_scaling = GradScalerOptions{.initial_scale = 1024.0},
                                .ema_decay = 0.9};
    Training training(network(DType::float32), sgd("0.9"), {}, {}, extras);
    Training without(network(DType::float32), sgd("0.9"), {}, {}, extras);
    const ListDataset good = pictures(0.5F);
    const auto reports = training.train(pictures(broken), plan, 0.05);

    ASSERT_EQ(reports.size(), 3U);
    EXPECT_TRUE(reports[0].applied);
    EXPECT_FALSE(reports[1].applied);
    EXPECT_TRUE(reports[2].applied);
    EXPECT_FALSE(std::isfinite(reports[1].grad_norm));
    EXPECT_EQ(reports[2].loss_scale, 512.0);
    EXPECT_EQ(training.replica.optimizer().applied_steps(), 2);
    EXPECT_TRUE(
        replicas_equal(replica_tensors(training.replica.parameters(), training.replica.buffers()),
                       *training.comm));

    // The same windows but for the bad one.
    std::vector<std::vector<float>> images;
    std::vector<std::int64_t> labels;
    for (std::int64_t id = 0; id < 24; ++id) {
      if (id / 8 == 1) continue;
      std::vector<float> image(64);
      labels.push_back(good.read(id, image));
      images.push_back(std::move(image));
    }
    without.train(ListDataset(images, labels, {1, 8, 8}), plan, 0.05);
    EXPECT_TRUE(Whole(training.replica) == Whole(without.replica));
  }
}

// Validation caches narrowed weights without gradients; a training step must not meet them.
TEST(TrainingStep, HasAllGradientsAfterAnEvaluationUnderAutocast) {
  at::set_num_threads(1);
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const Precision mixed{.parameters = DType::float32, .autocast = true, .autocast_dtype = dtype};
    const ListDataset data = pictures(0.5F);
    const auto gradients = [&](bool evaluate_first) {
      Training training(network(DType::float32), sgd(), mixed);
      Loader loader(data, {.global_batch = 8}, SampleOrder::sequential, 0, training.comm->rank(),
                    training.comm->size(), {.num_workers = 0});
      if (evaluate_first) evaluate(training.replica.model(), mixed, loader, *training.comm);
      training.train(data, {.global_batch = 24}, 0.0);
      for (const NamedTensor& parameter : training.replica.model().parameters()) {
        EXPECT_GT(parameter.tensor.grad().abs().max().item<double>(), 0.0) << parameter.name;
      }
      return training.replica.parameters().gradients().clone();
    };
    EXPECT_TRUE(gradients(true).equal(gradients(false)));
  }
}

}  // namespace
}  // namespace lockstep
