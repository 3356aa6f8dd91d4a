#include "cuda/device_places.hpp"

#include <map>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/comm/packed.hpp"

#include "cuda/stream_event.hpp"

namespace lockstep {
namespace {

std::string uuid_text(const std::array<std::byte, 16>& uuid) {
  std::string text = "GPU-" + hex_text(uuid);
  for (const std::size_t digits : {20, 16, 12, 8}) text.insert(std::size("GPU-") - 1 + digits, "-");
  return text;
}

}  // namespace

GpuProperties use_device(const CudaApi& api, int device) {
  const std::string attempted = "use GPU " + std::to_string(device);
  int count = 0;
  check_cuda(api, api.device_count(&count), attempted);
  if (device < 0 || device >= count) {
    throw Error(attempted, "this process sees " + counted(count, "GPU"),
                "see CUDA_VISIBLE_DEVICES and the job's --gpus-per-node");
  }
  check_cuda(api, api.set_device(device), attempted);
  GpuProperties properties;
  check_cuda(api, api.get_properties(&properties, device), attempted);
  return properties;
}

DevicePlace place_of(const GpuProperties& properties, std::string host) {
  return {std::move(host), uuid_text(properties.uuid), properties.name};
}

void refuse_shared_devices(const std::vector<DevicePlace>& places) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> ranks_of;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    ranks_of[{places[rank].host, places[rank].uuid}].push_back(std::to_string(rank));
  }
  std::vector<std::string> shared;
  for (const auto& [place, ranks] : ranks_of) {
    if (ranks.size() == 1) continue;
    shared.push_back("ranks " + joined(ranks, " and ") + " would compute on one GPU, " +
                     place.second + " of host " + place.first);
  }
  if (shared.empty()) return;
  throw UsageError("connect the GPUs", joined(shared, "; "),
                   "as many GPUs a node as tasks (srun --gpus-per-node), or fewer tasks");
}

std::vector<DevicePlace> all_gather_places(Communicator& host, const DevicePlace& place) {
  Packer packer;
  for (const std::string* text : {&place.host, &place.uuid, &place.name}) packer.add(*text);
  std::vector<DevicePlace> places;
  for (const std::string& bytes : all_gather_text(host, packer.bytes(), "GPUs of the ranks")) {
    Unpacker unpacker(bytes);
    DevicePlace& next = places.emplace_back();
    for (std::string* text : {&next.host, &next.uuid, &next.name}) *text = unpacker.text();
  }
  return places;
}

}  // namespace lockstep
