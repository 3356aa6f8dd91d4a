#include "lockstep/train/precision.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Precision, AutocastsWhereAskedForAndTheProcessorCan) {
  const Precision precision = choose_precision({}, {.has_bfloat16 = true}).precision;
  EXPECT_TRUE(precision.autocast);
  EXPECT_EQ(precision.parameters, DType::float32);
}

TEST(Precision, StaysPlainElsewhereAndSaysWhy) {
  EXPECT_FALSE(choose_precision({.use_amp = false}, {.has_bfloat16 = true}).precision.autocast);
  EXPECT_FALSE(choose_precision({}, {}).precision.autocast);
  const PrecisionChoice wide = choose_precision({.dtype = DType::float64}, {.has_bfloat16 = true});
  EXPECT_FALSE(wide.precision.autocast);
  EXPECT_EQ(wide.precision.parameters, DType::float64);
  EXPECT_NE(wide.reason.find("float64"), std::string::npos);
}

TEST(Precision, OnGpusFallsBackToScaledFloat16) {
  const Precision half = choose_precision({}, {.gpu = true}).precision;
  EXPECT_TRUE(half.autocast);
  EXPECT_TRUE(half.scales_losses());
  const PrecisionChoice brain = choose_precision({}, {.gpu = true, .has_bfloat16 = true});
  EXPECT_EQ(brain.precision.autocast_dtype, DType::bfloat16);
  EXPECT_NE(brain.reason.find("all GPUs"), std::string::npos);
}

TEST(Precision, TakesAnExplicitTypeAtItsWord) {
  const Precision half = choose_precision({.amp_dtype = "fp16"}, {}).precision;
  EXPECT_TRUE(half.autocast);
  EXPECT_EQ(half.autocast_dtype, DType::float16);
  EXPECT_TRUE(half.scales_losses());
  const Precision brain = choose_precision({.amp_dtype = "bf16"}, {}).precision;
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
