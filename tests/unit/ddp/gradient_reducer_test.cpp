#include "lockstep/ddp/gradient_reducer.hpp"

#include <algorithm>
#include <string>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/comm/self_communicator.hpp"

#include "unit/ddp/replica.hpp"

namespace lockstep {
namespace {

using test::Batch;
using test::learn_from;
using test::make_batch;
using test::make_model;
using test::Replica;
using Kind = ReductionEvent::Kind;

class GradientReducerTest : public testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }

  std::unique_ptr<MpiCommunicator> comm_ = MpiCommunicator::duplicate_world();
};

struct Window {
  std::int64_t samples;
  std::int64_t micro_batches;
};

// Even and uneven shares, ranks without any sample, and ranks without one in the last micro-batch.
const std::vector<Window> windows{{12, 1}, {12, 4}, {7, 1}, {7, 4}, {5, 2}, {2, 1}, {1, 1}};

at::Tensor gradient_of_the_whole_batch(const Batch& batch, DType dtype) {
  const auto model = make_model(group_norm(), dtype);
  const FlatParameters parameters(model->parameters());
  learn_from(*model, batch, batch.samples());
  return parameters.gradients();
}

TEST_F(GradientReducerTest, GivesTheGradientOfTheWholeBatch) {
  Replica replica(make_model(group_norm()), *comm_);
  ASSERT_GE(replica.reducer.buckets().size(), 4U);
  for (const auto& [samples, micro_batches] : windows) {
    const Batch batch = make_batch(samples);
    replica.run_window(batch, micro_batches, *comm_);
    const at::Tensor expected = gradient_of_the_whole_batch(batch, DType::float64);
    const double difference =
        (replica.parameters.gradients() - expected).abs().max().item<double>();
    EXPECT_GT(expected.abs().max().item<double>(), 0.1);
    EXPECT_LT(difference, 1e-12) << samples << " samples, " << micro_batches << " micro-batches";
  }
}

TEST_F(GradientReducerTest, GivesItInFloat32ToRounding) {
  Replica replica(make_model(group_norm(), DType::float32), *comm_);
  const Batch batch = make_batch(12, 0, at::kFloat);
  replica.run_window(batch, 1, *comm_);
  const at::Tensor expected = gradient_of_the_whole_batch(batch, DType::float32);
  const double error = (replica.parameters.gradients() - expected).norm().item<double>();
  EXPECT_LT(error / expected.norm().item<double>(), 1e-5);
}

TEST_F(GradientReducerTest, SendsTheGradientsOnceAWindow) {
  Replica replica(make_model(batch_norm()), *comm_);
  const std::int64_t once =
      8 * (replica.parameters.layout().size() + replica.buffers.values().numel());
  replica.run_window(make_batch(12), 1, *comm_);
  EXPECT_EQ(replica.reducer.bytes_reduced(), once);
  replica.run_window(make_batch(12), 4, *comm_);
  EXPECT_EQ(replica.reducer.bytes_reduced(), 2 * once);
}

TEST_F(GradientReducerTest, StartsReducingBeforeTheLastGradientIsThere) {
  std::vector<ReductionEvent> events;
  Replica replica(make_model(batch_norm()), *comm_,
                  [&](const ReductionEvent& event) { events.push_back(event); });
  replica.run_window(make_batch(12), 2, *comm_);

  const auto first_start = std::ranges::find(events, Kind::bucket_started, &ReductionEvent::kind);
  const auto last_gradient =
      std::ranges::find(events.rbegin(), events.rend(), Kind::gradient_ready, &ReductionEvent::kind)
          .base() -
      1;
  ASSERT_NE(first_start, events.end());
  EXPECT_LT(first_start, last_gradient);
  // All buckets but the last, which waits for the last gradient, leave during the backward pass.
  EXPECT_EQ(std::count_if(events.begin(), last_gradient,
                          [](const auto& event) { return event.kind == Kind::bucket_started; }),
            static_cast<std::int64_t>(replica.reducer.buckets().size()) - 1);
}

std::string starts_of(const std::vector<ReductionEvent>& events) {
  std::string text;
  for (const ReductionEvent& event : events) {
    if (event.kind == Kind::bucket_started) text += std::to_string(event.index) + " ";
  }
  return text;
}

TEST_F(GradientReducerTest, StartsBucketsInOneOrderOnAllRanks) {
  std::vector<ReductionEvent> events;
  Replica replica(make_model(batch_norm()), *comm_,
                  [&](const ReductionEvent& event) { events.push_back(event); });
  std::string expected;
  for (std::size_t bucket = 0; bucket < replica.reducer.buckets().size(); ++bucket) {
    expected += std::to_string(bucket) + " ";
  }
  for (const auto& [samples, micro_batches] : windows) {
    events.clear();
    replica.run_window(make_batch(samples), micro_batches, *comm_);
    for (const std::string& starts : all_gather_text(*comm_, starts_of(events), "test")) {
      EXPECT_EQ(starts, expected);
    }
  }
}

/// Two parameters in buckets of their own: `late` is reduced first.
struct Pair {
  at::Tensor early = at::full({16}, 2.0, at::kDouble).set_requires_grad(true);
  at::Tensor late = at::full({16}, 3.0, at::kDouble).set_requires_grad(true);
  FlatBuffers buffers{{}};
  FlatParameters parameters{{{"early", early}, {"late", late}}};
  std::vector<ReductionEvent> events;
  GradientReducer reducer;

  explicit Pair(Communicator& comm)
      : reducer(parameters, buffers, comm, {.bucket_bytes = 128, .last_bucket_bytes = 128},
                [this](const ReductionEvent& event) { events.push_back(event); }) {}
};

TEST_F(GradientReducerTest, WaitsForAParameterThatOneRankDoesNotUse) {
  Pair pair(*comm_);
  pair.reducer.begin_window(1.0 / comm_->size());
  pair.reducer.begin_micro_batch(true);
  const bool used = comm_->rank() != 0;
  (used ? pair.early * pair.late : pair.early).sum().backward();
  // Without `late`, bucket 1 is ready but its turn has not come.
  EXPECT_EQ(starts_of(pair.events), used ? "0 1 " : "");
  pair.reducer.finish();
  EXPECT_EQ(starts_of(pair.events), "0 1 ");
  // d/dlate = early = 2 on all ranks but the first; d/dearly = 1 there and late = 3 elsewhere.
  EXPECT_EQ(pair.late.grad()[0].item<double>(), 2.0 * (comm_->size() - 1));
  EXPECT_EQ(pair.early.grad()[0].item<double>(), 1.0 + 3.0 * (comm_->size() - 1));
}

TEST_F(GradientReducerTest, CountsWhatTheBackwardPassHid) {
  SelfCommunicator alone;  // whose messages are there when they are sent
  Pair pair(alone);
  const auto window = [&](bool with_samples) {
    pair.reducer.begin_window(1.0);
    pair.reducer.begin_micro_batch(/*last=*/true);
    if (with_samples) (pair.early * pair.late).sum().backward();
    pair.reducer.finish();
  };
  window(/*with_samples=*/true);
  EXPECT_EQ(pair.reducer.bytes_hidden(), 256);
  window(/*with_samples=*/false);  // all is sent when there is nothing left to hide it
  EXPECT_EQ(pair.reducer.bytes_hidden(), 256);
  EXPECT_EQ(pair.reducer.bytes_reduced(), 512);
}

TEST_F(GradientReducerTest, NoticesThatAGradientLeftTheFlatBuffer) {
  Pair pair(*comm_);
  pair.reducer.begin_window(1.0 / comm_->size());
  pair.reducer.begin_micro_batch(false);
  pair.late.mutable_grad() = at::zeros({16}, at::kDouble);
  EXPECT_THROW((pair.early * pair.late).sum().backward(), Error);
}

TEST_F(GradientReducerTest, RefusesASecondBackwardPassOverWhatIsBeingReduced) {
  Pair pair(*comm_);
  pair.reducer.begin_window(1.0 / comm_->size());
  pair.reducer.begin_micro_batch(true);
  (pair.early * pair.late).sum().backward();
  EXPECT_THROW((pair.early * pair.late).sum().backward(), Error);
  pair.reducer.finish();
}

TEST_F(GradientReducerTest, NeedsATailOfTheBuffersSize) {
  const auto model = make_model(batch_norm());
  FlatBuffers buffers(model->buffers());
  FlatParameters parameters(model->parameters());
  EXPECT_THROW(GradientReducer(parameters, buffers, *comm_, {}), Error);
}

TEST_F(GradientReducerTest, LeavesNoHookBehind) {
  const auto model = make_model(group_norm());
  FlatBuffers buffers(model->buffers());
  FlatParameters parameters(model->parameters());
  { const GradientReducer reducer(parameters, buffers, *comm_, {}); }
  learn_from(*model, make_batch(1), 1);
  EXPECT_GT(parameters.gradients().abs().max().item<double>(), 0.0);
}

}  // namespace
}  // namespace lockstep
