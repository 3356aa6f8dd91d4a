#include "app/torch_error.hpp"

#include <new>
#include <stdexcept>
#include <string>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What is made of what `work` throws.
template <typename F>
std::optional<Error> explanation(F&& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return explain_torch_error(error);
  }
  ADD_FAILURE() << "nothing was thrown";
  return std::nullopt;
}

TEST(TorchError, IsOneLineWithoutThePlaceInItsSource) {
  const auto error = explanation([] { at::zeros({2, 3}).view({7}); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "shape '[7]' is invalid for input of size 6");
}

TEST(TorchError, OfAFullGpuSaysWhatToLower) {
  const auto expect_advice = [](const std::optional<Error>& error, const std::string& reason) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->attempted(), "the GPU's memory is full");
    EXPECT_EQ(error->reason(), reason);
    EXPECT_THAT(error->remedy(), HasSubstr("batch_size"));
  };
  expect_advice(explanation([] {
                  TORCH_CHECK_WITH(OutOfMemoryError, false,
                                   "CUDA out of memory. Tried to allocate 2 GiB.\nMore.");
                }),
                "CUDA out of memory. Tried to allocate 2 GiB.");
  // Of what bypasses LibTorch's allocator.
  for (const std::string text : {"CUDA error: out of memory",
                                 "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
                                 "`cublasCreate(handle)`",
                                 "cuDNN error: CUDNN_STATUS_ALLOC_FAILED"}) {
    expect_advice(explanation([&] { TORCH_CHECK(false, text); }), text);
  }
}

TEST(TorchError, OfFullHostMemoryDoesToo) {
  const auto error = explanation([] { static_cast<void>(at::empty({std::int64_t{1} << 60})); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->attempted(), "out of memory");
  EXPECT_THAT(error->reason(), Not(HasSubstr("enforce")));
  EXPECT_THAT(error->remedy(), HasSubstr("--mem"));
}

TEST(TorchError, LeavesOthersAlone) {
  EXPECT_FALSE(explanation([] { throw std::runtime_error("mine"); }));
  const auto of_the_library = explanation([] { throw std::bad_alloc(); });
  ASSERT_TRUE(of_the_library);
  EXPECT_THAT(of_the_library->remedy(), HasSubstr("batch_size"));
}

}  // namespace
}  // namespace lockstep
