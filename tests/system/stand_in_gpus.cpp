// The program with stand-ins for its GPUs, one a rank.
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
      : gpu_(world, /*communicators=*/1, /*largest_message=*/1 << 20) {
    lockstep::test::make_one_gpu(gpu_);
  }
  OwnGpu(const OwnGpu&) = delete;
  OwnGpu& operator=(const OwnGpu&) = delete;
  ~OwnGpu() { gpu_.finish(); }

  GpuStandIn& gpu() { return gpu_; }

 private:
  GpuStandIn gpu_;
};

std::shared_ptr<GpuAccess> load(Communicator& world) {
  auto own = std::make_shared<OwnGpu>(world);
  const lockstep::EnvironmentMap environment = lockstep::environment_map();
  // Then all ranks have the same one, or ones of different kinds, or CUDA finds none.
  if (environment.contains("STAND_IN_MIXED")) {
    own->gpu().devices.front().name += " of rank " + std::to_string(world.rank());
  }
  if (environment.contains("STAND_IN_SHARED")) own->gpu().devices.front().uuid = {};
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
