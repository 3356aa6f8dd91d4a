#include "lockstep/cuda/gpu_claim.hpp"

#include <vector>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_session.hpp"

#include "cuda/device_places.hpp"
#include "cuda/stream_event.hpp"

namespace lockstep {

int count_gpus(const CudaApi& api) {
  int count = 0;
  check_cuda(api, api.device_count(&count), "count the GPUs that this process sees");
  return count;
}

GpuProperties claim_gpu(const CudaApi& api, int index, Communicator& world) {
  const GpuProperties properties = agreed(world, [&] { return use_device(api, index); });
  const std::vector<DevicePlace> places =
      all_gather_places(world, place_of(properties, MpiSession::host_name()));
  agreed(world, [&] { refuse_shared_devices(places); });
  return properties;
}

}  // namespace lockstep
