#include "app/torch_error.hpp"

#include <string_view>

namespace lockstep {
namespace {

constexpr std::string_view allocator = "DefaultCPUAllocator: ";
constexpr const char* smaller =
    "a lower batch_size with more grad_accum_steps, which is the same training, mixed precision "
    "(use_amp), or a narrower model";

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
  const auto* ours = dynamic_cast<const c10::Error*>(&error);
  if (ours == nullptr) return std::nullopt;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) {
    return Error("the GPU's memory is full", text_of(*ours), smaller);
  }
  if (std::string_view(ours->what_without_backtrace()).find(allocator) != std::string_view::npos) {
    return Error("out of memory", text_of(*ours),
                 std::string(smaller) + ", or more memory a task (sbatch --mem)");
  }
  return Error(text_of(*ours));
}

}  // namespace lockstep
