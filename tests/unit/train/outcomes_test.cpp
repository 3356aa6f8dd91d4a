#include "lockstep/train/outcomes.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Scores of samples over seven classes.
at::Tensor scores_of(const std::vector<float>& values) {
  return at::tensor(values).view({-1, 7});
}

Tally counted(const at::Tensor& scores, const std::vector<std::int64_t>& labels, double loss_sum) {
  return tally_of(outcomes_of({.labels = at::tensor(labels),
                               .logits = scores,
                               .loss_sum = at::scalar_tensor(loss_sum, at::kDouble)}));
}

TEST(Outcomes, CountTheFirstAndTheFirstFive) {
  const at::Tensor scores = scores_of({7, 6, 5, 4, 3, 2, 1,    // label 0: first
                                       7, 6, 5, 4, 3, 2, 1,    // label 4: fifth
                                       7, 6, 5, 4, 3, 2, 1,    // label 5: sixth
                                       1, 1, 1, 1, 1, 1, 1});  // label 6: nothing is above it
  const Tally tally = counted(scores, {0, 4, 5, 6}, 1.5);
  EXPECT_EQ(tally.loss_sum, 1.5);
  EXPECT_EQ(tally.samples, 4);
  EXPECT_EQ(tally.correct, 1);
  EXPECT_EQ(tally.correct_top5, 3);
  EXPECT_EQ(tally.nonfinite, 0);
}

TEST(Outcomes, NaNScoresAreNeverRightAndTheirLossIsCounted) {
  const at::Tensor scores = scores_of({nan, nan, nan, nan, nan, nan, nan,  //
                                       1, 0, 0, 0, 0, 0, 0});
  const Tally tally = counted(scores, {1, 0}, std::nan(""));
  EXPECT_EQ(tally.correct, 1);
  EXPECT_EQ(tally.correct_top5, 1);
  EXPECT_EQ(tally.nonfinite, 1);
  EXPECT_EQ(tally.samples, 2);
}

TEST(Outcomes, AddUpAndMayBeNone) {
  const at::Tensor one = outcomes_as({.loss_sum = 1.25, .correct = 2, .samples = 4}, at::kCPU);
  at::Tensor sum;
  add(sum, {});
  EXPECT_EQ(tally_of(sum).samples, 0);
  add(sum, one);
  add(sum,
      outcomes_as({.loss_sum = 0.5, .correct_top5 = 3, .nonfinite = 1, .samples = 1}, at::kCPU));
  add(sum, {});
  const Tally tally = tally_of(sum);
  EXPECT_EQ(tally.loss_sum, 1.75);
  EXPECT_EQ(tally.correct, 2);
  EXPECT_EQ(tally.correct_top5, 3);
  EXPECT_EQ(tally.nonfinite, 1);
  EXPECT_EQ(tally.samples, 5);
  EXPECT_EQ(tally_of(one).samples, 4);  // what was added first is not changed by what came later
}

}  // namespace
}  // namespace lockstep
