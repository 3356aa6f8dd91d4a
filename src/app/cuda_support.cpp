#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <c10/core/Device.h>
#include <dlfcn.h>

#include "lockstep/app/gpu_access.hpp"
#include "lockstep/base/error.hpp"
#include "lockstep/cuda/gpu_library.hpp"

namespace lockstep {
namespace {

std::filesystem::path own_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

/// The part of LibTorch for CUDA, beside the part that this program is linked with. It registers
/// itself, which must come before LibTorch is asked for the first time whether there is CUDA.
void load_torch_cuda() {
  Dl_info found{};
  static_cast<void>(dladdr(reinterpret_cast<const void*>(&c10::DeviceTypeName), &found));
  const std::filesystem::path library =
      std::filesystem::path(found.dli_fname == nullptr ? "" : found.dli_fname).parent_path() /
      "libtorch_cuda.so";
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE) != nullptr) return;
  const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe): each thread has its own
  throw Error("load LibTorch's part for CUDA",
              text == nullptr ? "the loader does not say why" : text,
              "a LibTorch built with CUDA and the CUDA libraries it needs (cuDNN, cuBLAS, NCCL) in "
              "LD_LIBRARY_PATH; or --device cpu");
}

}  // namespace

GpuSupport cuda_support() {
  return {.shortcoming = []() -> std::string {
            std::error_code unknown;
            if (std::filesystem::exists(gpu_library_beside(own_program()), unknown)) return {};
            return "this program was built without CUDA, or " +
                   gpu_library_beside(own_program()).filename().string() +
                   " was not copied along with it";
          },
          .load =
              [](Communicator&) {
                // First, so that CUDA's and NCCL's libraries are the ones LibTorch came with.
                load_torch_cuda();
                return std::make_shared<GpuAccess>(GpuAccess{
                    .owner = nullptr, .api = load_gpu_api(gpu_library_beside(own_program()))});
              }};
}

}  // namespace lockstep
