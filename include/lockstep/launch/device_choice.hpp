#pragma once

#include <optional>

namespace lockstep {

enum class DeviceRequest { automatic, cpu, cuda };

/// The index of the GPU that a rank computes on, among the `visible_gpus` that its process sees, or
/// nothing for the CPU. `local_rank` and `local_size` are the rank's place among its node's ranks.
///
/// One visible GPU is the rank's own (Slurm's --gpus-per-task); with one for each rank of the node
/// or more, rank r takes GPU r; with fewer, ranks would silently share, so that is a UsageError.
/// Without any GPU `automatic` is the CPU and `cuda` a UsageError.
std::optional<int> choose_device(int visible_gpus, int local_rank, int local_size,
                                 DeviceRequest requested);

}  // namespace lockstep
