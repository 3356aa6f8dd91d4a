#include "app/torch_error.hpp"

#include <new>
#include <string_view>

namespace lockstep {
namespace {

constexpr std::string_view allocator = "DefaultCPUAllocator: ";
constexpr const char* smaller =
    "a lower batch_size with more grad_accum_steps, which is the same training, mixed precision "
    "(use_amp), or a narrower model";
constexpr const char* more_memory = ", or more memory a task (sbatch --mem)";

/// Of the caching allocator, which has a type of its own, and of those that bypass it: CUDA itself,
/// cuBLAS, cuDNN.
bool is_full_gpu(const c10::Error& error) {
  const std::string_view text = error.what_without_backtrace();
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         text.find("out of memory") != std::string_view::npos ||
         text.find("ALLOC_FAILED") != std::string_view::npos;
}

}  // namespace

std::string text_of(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  std::string line = text.substr(0, text.find('\n'));
  // "[enforce fail at FILE:LINE] CONDITION. " goes.
  if (const std::size_t found = line.find(allocator); found != std::string::npos) {
    line.erase(0, found + allocator.size());
  }
  return line;
}

std::optional<Error> explain_torch_error(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return Error("out of memory", "std::bad_alloc", std::string(smaller) + more_memory);
  }
  const auto* ours = dynamic_cast<const c10::Error*>(&error);
  if (ours == nullptr) return std::nullopt;
  if (std::string_view(ours->what_without_backtrace()).find(allocator) != std::string_view::npos) {
    return Error("out of memory", text_of(*ours), std::string(smaller) + more_memory);
  }
  if (is_full_gpu(*ours)) return Error("the GPU's memory is full", text_of(*ours), smaller);
  return Error(text_of(*ours));
}

}  // namespace lockstep
