#include "lockstep/data/synthetic.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

std::vector<float> image_of(const Dataset& dataset, std::int64_t id) {
  std::vector<float> image(static_cast<std::size_t>(dataset.image_shape().size()));
  dataset.read(id, image);
  return image;
}

// The constants are printed by reference_values.py.
TEST(Synthetic, EqualsTheReference) {
  const auto data = make_synthetic({1, 1, 5}, 10, 2, 42);
  const std::vector<std::vector<float>> images{
      {0.643621096F, 0.435803746F, -0.569052255F, 1.36634972F, -0.848875959F},
      {0.277948835F, 0.238677596F, 0.305808618F, -1.49422593F, 0.540854625F}};
  for (std::int64_t id = 0; id < 2; ++id) {
    const std::vector<float> image = image_of(*data, id);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_FLOAT_EQ(image[i], images[static_cast<std::size_t>(id)][i]);
    }
  }
  const auto far = make_synthetic({1, 1, 1}, 10, 1, 42, 1LL << 33U);
  EXPECT_FLOAT_EQ(image_of(*far, 0)[0], 0.503288639F);
}

TEST(Synthetic, LabelsEqualTheReference) {
  const auto data = make_synthetic({1, 1, 1}, 10, 20, 42);
  const std::vector<std::int64_t> labels{9, 7, 2, 0, 2, 0, 9, 9, 6, 5,
                                         7, 1, 8, 0, 1, 8, 0, 5, 4, 8};
  std::vector<float> image(1);
  for (std::int64_t id = 0; id < 20; ++id) {
    EXPECT_EQ(data->label(id), labels[static_cast<std::size_t>(id)]);
    EXPECT_EQ(data->read(id, image), labels[static_cast<std::size_t>(id)]);
  }
}

TEST(Synthetic, ImagesAreStandardNormal) {
  const auto data = make_synthetic({3, 32, 32}, 10, 50, 7);
  double sum = 0.0;
  double squares = 0.0;
  double fourths = 0.0;
  const double count = 50.0 * 3072.0;
  for (std::int64_t id = 0; id < 50; ++id) {
    for (const double value : image_of(*data, id)) {
      sum += value;
      squares += value * value;
      fourths += value * value * value * value;
    }
  }
  // Five standard errors of each moment: 1, 2 and 96 are the variances of x, x^2 and x^4.
  EXPECT_NEAR(sum / count, 0.0, 5.0 * std::sqrt(1.0 / count));
  EXPECT_NEAR(squares / count, 1.0, 5.0 * std::sqrt(2.0 / count));
  EXPECT_NEAR(fourths / count, 3.0, 5.0 * std::sqrt(96.0 / count));
}

TEST(Synthetic, RefusesASampleThatIsNotThere) {
  const auto data = make_synthetic({1, 1, 1}, 10, 2, 42);
  std::vector<float> image(1);
  EXPECT_THROW(data->read(2, image), Error);
  EXPECT_THROW(data->label(-1), Error);
  std::vector<float> small;
  EXPECT_THROW(data->read(0, small), Error);
}

}  // namespace
}  // namespace lockstep
