// The program with stand-ins for its GPUs, one a rank.
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "lockstep/app/program.hpp"
#include "lockstep/launch/environment.hpp"

#include "support/gpu_pair.hpp"

namespace {

using lockstep::Communicator;
using lockstep::GpuAccess;
using lockstep::GpuStandIn;

/// What lasts as long as the program's use of the GPU.
class OwnGpu {
 public:
  explicit OwnGpu(Communicator& world)
      : gpu_(world, /*communicators=*/1, /*largest_message=*/1 << 22) {
    lockstep::test::make_one_gpu(gpu_);
  }
  OwnGpu(const OwnGpu&) = delete;
  OwnGpu& operator=(const OwnGpu&) = delete;
  ~OwnGpu() {
    gpu_.finish();
    for (const auto& [name, times] : ranges_)
      std::cerr << "range " << name << ": " << times << "\n";
  }

  GpuStandIn& gpu() { return gpu_; }

  /// Says at the end how often the program entered each range.
  void count_ranges() {
    gpu_.api().cuda.begin_range = [this](const char* name) { ++ranges_[name]; };
  }

 private:
  GpuStandIn gpu_;
  std::map<std::string, int> ranges_;
};

std::shared_ptr<GpuAccess> load(Communicator& world) {
  auto own = std::make_shared<OwnGpu>(world);
  const lockstep::EnvironmentMap environment = lockstep::environment_map();
  if (environment.contains("STAND_IN_RANGES")) own->count_ranges();
  if (const auto bytes = environment.find("STAND_IN_MEMORY"); bytes != environment.end()) {
    lockstep::test::limit_memory(std::stoul(bytes->second));
  }
  // Then all ranks have the same one, or ones of different kinds, or CUDA finds none.
  if (environment.contains("STAND_IN_MIXED")) {
    own->gpu().devices.front().name += " of rank " + std::to_string(world.rank());
  }
  if (environment.contains("STAND_IN_SHARED")) own->gpu().devices.front().uuid = {};
  if (environment.contains("STAND_IN_IDLE")) {
    own->gpu().devices.resize(3, own->gpu().devices.front());
  }
  if (environment.contains("STAND_IN_BLIND")) own->gpu().devices.clear();
  const lockstep::GpuApi& api = own->gpu().api();
  return std::make_shared<GpuAccess>(
      GpuAccess{.owner = own, .api = api, .type = c10::DeviceType::PrivateUse1});
}

}  // namespace

int main(int argc, char** argv) {
  return lockstep::run_program(argc, argv, lockstep::environment_map(),
                               {.shortcoming = [] { return std::string(); }, .load = load});
}
