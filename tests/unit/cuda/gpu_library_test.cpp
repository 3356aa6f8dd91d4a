// Loading the library of real functions: what it takes, and what is said where it cannot be.
#include "lockstep/cuda/gpu_library.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Libraries of the build's, as CMake tells.
const std::filesystem::path other_library = LOCKSTEP_OTHER_LIBRARY;
const std::filesystem::path other_build = LOCKSTEP_OTHER_BUILD;

std::string error_of_loading(const std::filesystem::path& library) {
  try {
    load_gpu_api(library);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(GpuLibrary, LiesBesideTheProgram) {
  EXPECT_EQ(gpu_library_beside("/opt/lockstep/bin/lockstep"),
            "/opt/lockstep/bin/liblockstep_cuda.so");
}

TEST(GpuLibrary, AMissingOneIsAnErrorThatSaysHowToBuildIt) {
  EXPECT_THAT(error_of_loading("/nowhere/liblockstep_cuda.so"),
              AllOf(HasSubstr("load /nowhere/liblockstep_cuda.so"), HasSubstr("no such file"),
                    HasSubstr("-DLOCKSTEP_CUDA=ON"), HasSubstr("use the CPU")));
}

TEST(GpuLibrary, OneThatIsNoLibraryIsAnError) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("lockstep_no_library_" + std::to_string(getpid()) + ".so");
  std::ofstream(path) << "this is no library";
  EXPECT_THAT(error_of_loading(path),
              AllOf(HasSubstr("no library, or not all of one"), HasSubstr("use the CPU")));
  std::filesystem::remove(path);
}

TEST(GpuLibrary, OneThatWasBrokenOffIsAnErrorAtAnyLength) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("lockstep_half_library_" + std::to_string(getpid()) + ".so");
  std::filesystem::copy_file(other_build, path);
  const auto whole = static_cast<std::int64_t>(std::filesystem::file_size(path));
  for (const std::int64_t length : {whole - 1, whole / 2, std::int64_t{64}, std::int64_t{0}}) {
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(length));
    EXPECT_THAT(error_of_loading(path), HasSubstr("not all of one")) << length;
  }
  std::filesystem::remove(path);
}

TEST(GpuLibrary, AnotherLibraryIsAnError) {
  EXPECT_THAT(error_of_loading(other_library),
              AllOf(HasSubstr("lockstep_fill_gpu_api"), HasSubstr("cmake --build")));
}

TEST(GpuLibrary, OneOfAnotherBuildIsAnError) {
  EXPECT_THAT(error_of_loading(other_build),
              AllOf(HasSubstr("another version of Lockstep"), HasSubstr("cmake --build")));
}

#ifdef LOCKSTEP_GPU_LIBRARY
bool is_in_memory(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(name) != std::string::npos;
}

TEST(GpuLibrary, TheRealOneBringsNcclAndKnowsItsErrors) {
  EXPECT_FALSE(is_in_memory("libnccl"));
  const GpuApi api = load_gpu_api(LOCKSTEP_GPU_LIBRARY);
  EXPECT_TRUE(is_in_memory("libnccl"));
  int version = 0;
  EXPECT_EQ(api.nccl.version(&version), NcclStatus::success);
  EXPECT_GE(version, 21800);
  EXPECT_EQ(api.cuda.error_text(CudaStatus::not_ready), "device not ready (cudaErrorNotReady)");
  EXPECT_EQ(api.nccl.error_text(NcclStatus::remote_error),
            "remote process exited or there was a network error");
}

TEST(GpuLibrary, TheRealOneHasEveryFunction) {
  const GpuApi api = load_gpu_api(LOCKSTEP_GPU_LIBRARY);
  const CudaApi& cuda = api.cuda;
  EXPECT_TRUE(cuda.device_count && cuda.set_device && cuda.get_properties && cuda.memory_info);
  EXPECT_TRUE(cuda.allocate && cuda.free && cuda.allocate_pinned && cuda.free_pinned);
  EXPECT_TRUE(cuda.copy_async && cuda.priority_range && cuda.create_stream && cuda.destroy_stream);
  EXPECT_TRUE(cuda.synchronize_stream && cuda.wait_event && cuda.create_event);
  EXPECT_TRUE(cuda.record_event && cuda.query_event && cuda.destroy_event && cuda.error_text);
  const NcclApi& nccl = api.nccl;
  EXPECT_TRUE(nccl.version && nccl.unique_id && nccl.init && nccl.async_error && nccl.finalize);
  EXPECT_TRUE(nccl.destroy && nccl.abort && nccl.all_reduce && nccl.broadcast && nccl.all_gather);
  EXPECT_TRUE(nccl.reduce_scatter && nccl.group_start && nccl.group_end && nccl.error_text);
  EXPECT_TRUE(nccl.last_error);
}

TEST(GpuLibrary, WhereThereIsNoGpuCudaSaysSo) {
  const GpuApi api = load_gpu_api(LOCKSTEP_GPU_LIBRARY);
  int count = 0;
  const CudaStatus status = api.cuda.device_count(&count);
  if (status == CudaStatus::success) GTEST_SKIP() << "there is one";
  EXPECT_THAT(api.cuda.error_text(status), HasSubstr("cudaError"));
}
#endif

}  // namespace
}  // namespace lockstep
