#pragma once

#include <string>
#include <vector>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/cuda/gpu_api.hpp"

namespace lockstep {

/// Where a rank computes.
struct DevicePlace {
  std::string host;
  std::string uuid;  ///< "GPU-" and 32 hexadecimal digits in groups, as nvidia-smi writes it
  std::string name;  ///< of the GPU's model
};

/// Makes GPU `device` the calling thread's and tells what it is. Throws Error. Not collective.
GpuProperties use_device(const CudaApi& api, int device);

DevicePlace place_of(const GpuProperties& properties, std::string host);

/// Throws UsageError naming each GPU that several ranks share, and those ranks. `places` by rank.
/// Not collective.
void refuse_shared_devices(const std::vector<DevicePlace>& places);

/// `place` of every rank, by rank. Collective.
std::vector<DevicePlace> all_gather_places(Communicator& host, const DevicePlace& place);

}  // namespace lockstep
