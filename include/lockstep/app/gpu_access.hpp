#pragma once

#include <functional>
#include <memory>
#include <string>

#include <c10/core/DeviceType.h>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// A process's way to its GPUs.
struct GpuAccess {
  std::shared_ptr<void> owner;  ///< of what the functions need; may be null
  GpuApi api;
  c10::DeviceType type = c10::DeviceType::CUDA;  ///< LibTorch's name for them
};

/// How a program comes by its GPUs.
struct GpuSupport {
  /// Why there are none in this program; empty where there may be some.
  std::function<std::string()> shortcoming;
  /// Before the process's first tensor. Throws Error. Collective.
  std::function<std::shared_ptr<GpuAccess>(Communicator& world)> load;
};

/// By CUDA and NCCL, in libraries that are loaded when load() is called and never before.
GpuSupport cuda_support();

}  // namespace lockstep
