#include "lockstep/train/precision.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Precision, AutocastsWhereAskedForAndTheProcessorCan) {
  const Precision precision = choose_precision(DType::float32, true, true).precision;
  EXPECT_TRUE(precision.autocast);
  EXPECT_EQ(precision.parameters, DType::float32);
}

TEST(Precision, StaysPlainElsewhereAndSaysWhy) {
  EXPECT_FALSE(choose_precision(DType::float32, false, true).precision.autocast);
  EXPECT_FALSE(choose_precision(DType::float32, true, false).precision.autocast);
  const PrecisionChoice wide = choose_precision(DType::float64, true, true);
  EXPECT_FALSE(wide.precision.autocast);
  EXPECT_EQ(wide.precision.parameters, DType::float64);
  EXPECT_NE(wide.reason.find("float64"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
