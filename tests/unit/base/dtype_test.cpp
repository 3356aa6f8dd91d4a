#include "lockstep/base/dtype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

TEST(DType, HasTheSizeThatItsNameSays) {
  EXPECT_EQ(size_of(DType::uint8), 1U);
  EXPECT_EQ(size_of(DType::int32), 4U);
  EXPECT_EQ(size_of(DType::int64), 8U);
  EXPECT_EQ(size_of(DType::float16), 2U);
  EXPECT_EQ(size_of(DType::bfloat16), 2U);
  EXPECT_EQ(size_of(DType::float32), 4U);
  EXPECT_EQ(size_of(DType::float64), 8U);
}

TEST(DType, IsFoundByItsName) {
  EXPECT_EQ(name_of(DType::bfloat16), "bfloat16");
  for (const DType dtype : {DType::uint8, DType::int32, DType::int64, DType::float16,
                            DType::bfloat16, DType::float32, DType::float64}) {
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype);
  }
}

TEST(DType, AnUnknownNameIsAUsageErrorThatNamesTheNearest) {
  try {
    dtype_named("flaot32");
    FAIL() << "there is no such dtype";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'float32'"));
  }
}

}  // namespace
}  // namespace lockstep
