#include "lockstep/cuda/gpu_claim.hpp"

#include <string>
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
  GpuProperties properties;
  const DevicePlace place = agreed(world, [&] {
    const DevicePlace own = use_device(api, index, MpiSession::host_name());
    check_cuda(api, api.get_properties(&properties, index), "look at GPU " + std::to_string(index));
    return own;
  });
  const std::vector<DevicePlace> places = all_gather_places(world, place);
  agreed(world, [&] { refuse_shared_devices(places); });
  return properties;
}

}  // namespace lockstep
