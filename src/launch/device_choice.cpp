#include "lockstep/launch/device_choice.hpp"

#include <string>

#include "lockstep/base/error.hpp"

namespace lockstep {

std::optional<int> choose_device(int visible_gpus, int local_rank, int local_size,
                                 DeviceRequest requested) {
  if (requested == DeviceRequest::cpu) return std::nullopt;
  if (visible_gpus == 0) {
    if (requested == DeviceRequest::automatic) return std::nullopt;
    throw UsageError("choose a GPU", "this process sees none",
                     "ask Slurm for GPUs (--gpus-per-task=1), or compute on the CPU");
  }
  if (visible_gpus == 1) return 0;
  if (visible_gpus >= local_size) return local_rank;
  throw UsageError("choose a GPU",
                   std::to_string(local_size) + " ranks on this node see " +
                       std::to_string(visible_gpus) + " GPUs, and ranks do not share one",
                   "at most " + std::to_string(visible_gpus) +
                       " tasks a node, or one GPU a task "
                       "(--gpus-per-task=1)");
}

}  // namespace lockstep
