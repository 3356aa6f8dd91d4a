#include "lockstep/launch/device_choice.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <system_error>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

bool names_gpu(std::string_view entry) {
  return is_number(entry) || entry.starts_with("GPU-") || entry.starts_with("MIG-");
}

int entries_naming_gpus(std::string_view list) {
  int count = 0;
  while (true) {
    const std::size_t comma = list.find(',');
    if (!names_gpu(trimmed(list.substr(0, comma)))) return count;
    ++count;
    if (comma == std::string_view::npos) return count;
    list.remove_prefix(comma + 1);
  }
}

int device_files(const std::filesystem::path& devices) {
  constexpr std::string_view prefix = "nvidia";
  int count = 0;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(devices, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && is_number(std::string_view(name).substr(prefix.size()))) {
      ++count;
    }
  }
  return count;
}

}  // namespace

VisibleGpus visible_gpus(const EnvironmentMap& environment, const std::filesystem::path& devices) {
  constexpr const char* variable = "CUDA_VISIBLE_DEVICES";
  if (const auto found = environment.find(variable); found != environment.end()) {
    return {entries_naming_gpus(found->second), std::string(variable) + "=" + found->second};
  }
  return {device_files(devices), std::string(variable) + " is unset"};
}

std::optional<int> choose_device(int visible_gpus, int local_rank, int local_size) {
  if (visible_gpus == 0) return std::nullopt;
  if (visible_gpus == 1) return 0;
  if (visible_gpus >= local_size) return local_rank;
  throw UsageError("choose a GPU",
                   std::to_string(local_size) + " ranks on this node see " +
                       std::to_string(visible_gpus) + " GPUs, and ranks do not share one",
                   "at most " + std::to_string(visible_gpus) +
                       " tasks a node, or as many GPUs a node as tasks "
                       "(--gpus-per-node)");
}

std::string idle_gpus_text(int visible_gpus, int local_size) {
  if (visible_gpus <= std::max(1, local_size)) return {};
  return std::to_string(visible_gpus - local_size) + " of the " + std::to_string(visible_gpus) +
         " GPUs in sight stay idle, since this node has " + counted(local_size, "rank") +
         " and each takes one (sbatch --ntasks-per-node)";
}

std::string device_text(const VisibleGpus& gpus, int local_rank, int local_size) {
  try {
    const std::optional<int> index = choose_device(gpus.count, local_rank, local_size);
    if (!index) return "no GPU (" + gpus.source + ")";
    return "GPU " + std::to_string(*index) + " of " + std::to_string(gpus.count) + " (" +
           gpus.source + ")";
  } catch (const UsageError& error) {
    return "no GPU (" + error.reason() + ")";
  }
}

}  // namespace lockstep
