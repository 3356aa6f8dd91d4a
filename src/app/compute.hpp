#pragma once

#include <functional>
#include <memory>
#include <string>

#include <c10/core/Device.h>

#include "lockstep/app/gpu_access.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/launch/environment.hpp"
#include "lockstep/launch/topology.hpp"
#include "lockstep/train/options.hpp"

#include "app/commands.hpp"

namespace lockstep {

/// What this rank computes on.
struct Compute {
  c10::Device device = c10::DeviceType::CPU;
  std::shared_ptr<GpuAccess> gpu;  ///< null on a CPU
  int index = 0;                   ///< of the GPU, as CUDA counts them here
  GpuProperties properties;        ///< of the GPU
  std::shared_ptr<void> ranges;    ///< shows ProfileRanges on the GPU's timeline
  std::string reason;              ///< for the log; the same on all ranks
  std::string warning{};           ///< of this rank's; empty where there is none

  bool on_gpu() const { return gpu != nullptr; }
};

/// By the options' `device`: all ranks compute on GPUs, one each, or all on CPUs. Makes the GPU the
/// thread's before anything is allocated on it. Throws AgreedError where the job does not hold what
/// is asked for; GPUs in sight that cannot be used are an error where they were asked for and else
/// a warning. Collective.
Compute choose_compute(const CommandContext& context, const TrainOptions& options,
                       const Topology& topology);

/// Sets how LibTorch computes on GPUs, by the options `deterministic` and `tf32`; does nothing on
/// CPUs. To be called when the options are final, before anything is computed. Not collective.
void set_arithmetic(const TrainOptions& options, const Compute& compute);

/// What carries gradients, by the options' `backend`.
struct Backend {
  /// Of device memory; null on CPUs, where the world itself serves.
  std::unique_ptr<Communicator> device;
  std::string reason;  ///< for the log
  /// Waits for what is in flight and closes it in good order; empty where nothing needs that.
  /// Collective.
  std::function<void()> finish{};
};

/// Throws AgreedError where it cannot be had. Collective. What it finds out later, behind the
/// training, ends the job.
Backend connect_backend(const CommandContext& context, const TrainOptions& options,
                        const Compute& compute);

}  // namespace lockstep
