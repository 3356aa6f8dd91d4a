#include "lockstep/train/precision.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Precision, AutocastsWhereAskedForAndTheProcessorCan) {
  const Precision precision = choose_precision({}, true).precision;
  EXPECT_TRUE(precision.autocast);
  EXPECT_EQ(precision.parameters, DType::float32);
}

TEST(Precision, StaysPlainElsewhereAndSaysWhy) {
  EXPECT_FALSE(choose_precision({.use_amp = false}, true).precision.autocast);
  EXPECT_FALSE(choose_precision({}, false).precision.autocast);
  const PrecisionChoice wide = choose_precision({.dtype = DType::float64}, true);
  EXPECT_FALSE(wide.precision.autocast);
  EXPECT_EQ(wide.precision.parameters, DType::float64);
  EXPECT_NE(wide.reason.find("float64"), std::string::npos);
}

TEST(Precision, TakesAnExplicitTypeAtItsWord) {
  const Precision half = choose_precision({.amp_dtype = "fp16"}, false).precision;
  EXPECT_TRUE(half.autocast);
  EXPECT_EQ(half.autocast_dtype, DType::float16);
  EXPECT_TRUE(half.scales_losses());
  const Precision brain = choose_precision({.amp_dtype = "bf16"}, false).precision;
  EXPECT_TRUE(brain.autocast);
  EXPECT_EQ(brain.autocast_dtype, DType::bfloat16);
  EXPECT_FALSE(brain.scales_losses());
}

TEST(Precision, NamesEveryContradiction) {
  EXPECT_EQ(problems({.dtype = DType::float64, .use_amp = false, .amp_dtype = "fp16"}).size(), 2U);
  EXPECT_EQ(problems({.amp_dtype = "bf16"}).size(), 0U);
  EXPECT_EQ(problems({.dtype = DType::float64}).size(), 0U);
}

}  // namespace
}  // namespace lockstep
