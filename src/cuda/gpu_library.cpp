#include "lockstep/cuda/gpu_library.hpp"

#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "lockstep/base/error.hpp"

#include "cuda/gpu_library_entry.hpp"

namespace lockstep {
namespace {

std::string loader_text() {
  const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe): each thread has its own
  return text == nullptr ? "the loader does not say why" : text;
}

/// Whether the file has all that its header speaks of. The loader does not look, and the program
/// dies of SIGBUS where it touches what a copy that was broken off lacks.
bool is_whole(const std::filesystem::path& library) {
  std::ifstream file(library, std::ios::binary);
  ElfW(Ehdr) header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(library, unknown);
  // Linkers put the table of sections last.
  return !unknown && bytes >= header.e_shoff + std::uintmax_t{header.e_shnum} * header.e_shentsize;
}

constexpr const char* other_build_remedy = "build program and library together: cmake --build";

}  // namespace

std::filesystem::path gpu_library_beside(const std::filesystem::path& program) {
  return program.parent_path() / "liblockstep_cuda.so";
}

GpuApi load_gpu_api(const std::filesystem::path& library) {
  const std::string attempted = "load " + library.string() + ", which is needed to use a GPU";
  if (!std::filesystem::exists(library)) {
    throw Error(attempted, "there is no such file",
                "build on a machine that has the CUDA toolkit and NCCL, with -DLOCKSTEP_CUDA=ON; "
                "or use the CPU");
  }
  if (!is_whole(library)) {
    throw Error(attempted, "it is no library, or not all of one",
                "copy it again from where it was built, or use the CPU");
  }
  // Never unloaded: the CUDA runtime and NCCL have threads and exit handlers of their own.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    throw Error(
        attempted, loader_text(),
        "see that the CUDA runtime and NCCL of the build are on this machine, too (clusters: "
        "module load cuda nccl), or add their directory to LD_LIBRARY_PATH");
  }
  void* symbol = dlsym(handle, gpu_library_entry);
  if (symbol == nullptr) throw Error(attempted, loader_text(), other_build_remedy);

  GpuApi api;
  const auto fill = reinterpret_cast<decltype(&lockstep_fill_gpu_api)>(symbol);
  if (fill(&api, sizeof api) != sizeof api) {
    throw Error(attempted, "it was built from another version of Lockstep", other_build_remedy);
  }
  return api;
}

}  // namespace lockstep
