#include "kernels/cook_toom.hpp"

#include <gtest/gtest.h>

namespace lockstep::kernels {
namespace {

// Lavin and Gray, 2016, section 4.1: F(2, 3). Theirs and ours differ in the signs of the rows of
// -1 and of infinity, in both factors.
TEST(CookToom, GivesThePublishedMatricesOfTwoOutputs) {
  const double data[4][4] = {{-1, 0, 1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}};
  const double filter[4][3] = {{-1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  const double output[4][2] = {{1, 0}, {1, 1}, {1, -1}, {0, 1}};
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 4; ++k) EXPECT_EQ(data_matrix<2>.values[i][k], data[i][k]) << i << k;
    for (int k = 0; k < 3; ++k) EXPECT_EQ(filter_matrix<2>.values[i][k], filter[i][k]) << i << k;
    for (int k = 0; k < 2; ++k) EXPECT_EQ(output_matrix<2>.values[i][k], output[i][k]) << i << k;
  }
}

using Two = Vector<2>::Floats;

// y[k] = d[k] g[0] + d[k + 1] g[1] + d[k + 2] g[2], by hand.
TEST(CookToom, CorrelatesFourOutputsWithThreeTaps) {
  Two data[6];
  for (int i = 0; i < 6; ++i) data[i] = Two{float(i * i), float(3 - i)};
  const Two taps[3] = {Two{1, 2}, Two{-2, 4}, Two{5, -1}};
  Two points[6];
  Two filter[6];
  Two outputs[4];
  to_points<data_matrix<4>>(data, points);
  to_points<filter_matrix<4>>(taps, filter);
  for (int i = 0; i < 6; ++i) points[i] *= filter[i];
  from_points<output_matrix<4>>(points, outputs);
  const float first[4] = {18, 38, 66, 102};  // k^2 - 2 (k + 1)^2 + 5 (k + 2)^2
  const float second[4] = {13, 8, 3, -2};    // 2 (3 - k) + 4 (2 - k) - (1 - k)
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(outputs[k][0], first[k], 1e-4) << k;
    EXPECT_NEAR(outputs[k][1], second[k], 1e-4) << k;
  }
}

}  // namespace
}  // namespace lockstep::kernels
