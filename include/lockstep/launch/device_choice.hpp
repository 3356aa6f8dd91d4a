#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/launch/environment.hpp"

namespace lockstep {

/// The GPUs that this process could use, as CUDA counts them, without asking CUDA.
struct VisibleGpus {
  int count = 0;
  std::string source{};  ///< how that is known, e.g. "CUDA_VISIBLE_DEVICES=0,1"
};

/// CUDA_VISIBLE_DEVICES lists them where it is set: numbers or UUIDs, up to the first entry that is
/// neither (CUDA C++ Programming Guide, "CUDA Environment Variables"). Otherwise they are those of
/// which `devices` holds a file "nvidia<number>".
VisibleGpus visible_gpus(const EnvironmentMap& environment,
                         const std::filesystem::path& devices = "/dev");

/// The index of the GPU that a rank computes on, among the `visible_gpus` that its process sees, or
/// nothing where there is none. `local_rank` and `local_size` are the rank's place among its node's
/// ranks.
///
/// One visible GPU is the rank's own (Slurm's --gpus-per-task); with one for each rank of the node
/// or more, rank r takes GPU r; with fewer, ranks would silently share, so that is a UsageError.
std::optional<int> choose_device(int visible_gpus, int local_rank, int local_size);

/// Where ranks see more GPUs than their node has ranks, so that some stay idle: that, in words;
/// empty otherwise.
std::string idle_gpus_text(int visible_gpus, int local_size);

/// What choose_device() says, in words: "GPU 1 of 2 (CUDA_VISIBLE_DEVICES=0,1)", or why none.
std::string device_text(const VisibleGpus& gpus, int local_rank, int local_size);

}  // namespace lockstep
