#include "lockstep/train/outcomes.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Scores of samples over seven classes.
at::Tensor scores_of(const std::vector<float>& values) {
  return at::tensor(values).view({-1, 7});
}

TEST(Outcomes, CountsTheFirstAndTheFirstFive) {
  const at::Tensor scores = scores_of({7, 6, 5, 4, 3, 2, 1,    // label 0: first
                                       7, 6, 5, 4, 3, 2, 1,    // label 4: fifth
                                       7, 6, 5, 4, 3, 2, 1,    // label 5: sixth
                                       1, 1, 1, 1, 1, 1, 1});  // label 6: nothing is above it
  Tally tally{.loss_sum = 1.0};
  count_outcomes(scores, at::tensor(std::vector<std::int64_t>{0, 4, 5, 6}), tally);
  EXPECT_EQ(tally.samples, 4);
  EXPECT_EQ(tally.correct, 1);
  EXPECT_EQ(tally.correct_top5, 3);
  EXPECT_EQ(tally.nonfinite, 0);
}

TEST(Outcomes, NaNScoresAreNeverRightAndTheirLossIsCounted) {
  const at::Tensor scores = scores_of({nan, nan, nan, nan, nan, nan, nan,  //
                                       1, 0, 0, 0, 0, 0, 0});
  Tally tally{.loss_sum = std::nan("")};
  count_outcomes(scores, at::tensor(std::vector<std::int64_t>{1, 0}), tally);
  EXPECT_EQ(tally.correct, 1);
  EXPECT_EQ(tally.correct_top5, 1);
  EXPECT_EQ(tally.nonfinite, 1);
  EXPECT_EQ(tally.samples, 2);
}

TEST(Outcomes, AddToWhatIsThere) {
  const at::Tensor scores = scores_of({1, 0, 0, 0, 0, 0, 0});
  const at::Tensor labels = at::tensor(std::vector<std::int64_t>{0});
  Tally tally{.loss_sum = 1.0, .correct = 2, .correct_top5 = 3, .samples = 4};
  count_outcomes(scores, labels, tally);
  EXPECT_EQ(tally.correct, 3);
  EXPECT_EQ(tally.correct_top5, 4);
  EXPECT_EQ(tally.samples, 5);
}

}  // namespace
}  // namespace lockstep
