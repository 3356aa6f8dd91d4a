#include "app/compute.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include <ATen/Context.h>
#include <fmt/format.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_session.hpp"
#include "lockstep/cuda/gpu_claim.hpp"
#include "lockstep/cuda/nccl_communicator.hpp"
#include "lockstep/cuda/staged_communicator.hpp"
#include "lockstep/launch/device_choice.hpp"

#include "app/guard.hpp"
#include "app/timeline.hpp"

namespace lockstep {
namespace {

/// Every rank's text with its rank, not too many. Collective.
std::string by_rank(Communicator& world, const std::string& text) {
  constexpr std::size_t most_named = 8;
  const std::vector<std::string> texts = all_gather_text(world, text, "GPUs of the ranks");
  std::vector<std::string> named;
  for (std::size_t rank = 0; rank < std::min(texts.size(), most_named); ++rank) {
    named.push_back(fmt::format("rank {}: {}", rank, texts[rank]));
  }
  if (texts.size() > most_named) named.emplace_back("...");
  return joined(named, "; ");
}

/// What the ranks see of GPUs before CUDA is asked.
struct Sight {
  std::int64_t least = 0;  ///< GPUs a rank sees
  std::int64_t most = 0;
  std::string text;     ///< which, and why these, for the log
  bool hidden = false;  ///< some rank is told by CUDA_VISIBLE_DEVICES which it may see
};

/// Collective.
Sight look_for_gpus(const CommandContext& context, const Topology& topology) {
  Communicator& world = context.session.world();
  const VisibleGpus gpus = visible_gpus(context.environment);
  Sight sight;
  sight.least = all_reduce_value(world, std::int64_t{gpus.count}, ReduceOp::min, "GPUs in sight");
  sight.most = all_reduce_value(world, std::int64_t{gpus.count}, ReduceOp::max, "GPUs in sight");
  const std::int64_t told = context.environment.contains("CUDA_VISIBLE_DEVICES") ? 1 : 0;
  sight.hidden = all_reduce_value(world, told, ReduceOp::max, "GPUs in sight") != 0;
  sight.text = by_rank(world, device_text(gpus, topology.local_rank, topology.local_size));
  return sight;
}

/// Why GPUs cannot be used; empty where they perhaps can. Collective.
std::string obstacle(const CommandContext& context, const Sight& sight) {
  const std::string shortcoming =
      broadcast_text(context.session.world(), context.gpus.shortcoming(), 0, "GPUs of the program");
  if (sight.most == 0) {
    return std::string("no rank sees a GPU") +
           (sight.hidden ? fmt::format(" ({})", sight.text) : "");
  }
  const std::string reason = shortcoming.empty() ? "not every rank sees a GPU" : shortcoming;
  if (sight.least > 0 && shortcoming.empty()) return {};
  return reason + "; those in sight stay idle (" + sight.text + ")";
}

/// Loads what GPUs are used by, and finds some. Throws AgreedError. Collective.
std::shared_ptr<GpuAccess> load_gpus(const CommandContext& context) {
  Communicator& world = context.session.world();
  std::shared_ptr<GpuAccess> gpu = agreed(world, [&] { return context.gpus.load(world); });
  agreed(world, [&] {
    if (count_gpus(gpu->api.cuda) > 0) return;
    throw Error("compute on a GPU", "CUDA finds none, although there seem to be some",
                "see what nvidia-smi says on this host");
  });
  return gpu;
}

/// The GPUs, or null with the reason in `compute` where all ranks are to use CPUs. Throws
/// AgreedError where GPUs were asked for and cannot be used. Collective.
std::shared_ptr<GpuAccess> gpus_by_options(const CommandContext& context,
                                           const TrainOptions& options, const Topology& topology,
                                           Compute& compute) {
  if (options.device == "cpu") {
    compute.reason = "CPU, as device asks";
    return nullptr;
  }
  Communicator& world = context.session.world();
  const bool asked = options.device == "cuda";
  const Sight sight = look_for_gpus(context, topology);
  if (const std::string reason = obstacle(context, sight); !reason.empty()) {
    agreed(world, [&] {
      if (!asked) return;
      throw UsageError(
          "compute on GPUs, as device asks", reason,
          "as many GPUs a node as tasks (srun --gpus-per-node), CUDA_VISIBLE_DEVICES without what "
          "hides them, a build with the CUDA toolkit and "
          "NCCL (-DLOCKSTEP_CUDA=ON), or --device cpu");
    });
    compute.reason = "CPU, since " + reason;
    return nullptr;
  }
  try {
    return load_gpus(context);
  } catch (const AgreedError& error) {
    if (asked) throw;
    if (world.rank() == 0) context.log.warn(std::string("GPUs cannot be used: ") + error.what());
    compute.reason = "CPU, since the GPUs in sight cannot be used, see above; they stay idle (" +
                     sight.text + ")";
    return nullptr;
  }
}

/// Kinds of GPU sum in different orders, so that ranks would clip by different bits and part.
/// Throws AgreedError. Collective.
void refuse_mixed_kinds(Communicator& world, const std::string& name) {
  const std::string first = broadcast_text(world, name, 0, "rank 0's kind of GPU");
  agreed(world, [&] {
    if (name == first) return;
    throw UsageError("compute on GPUs of one kind",
                     "this rank's is a " + name + ", rank 0's a " + first,
                     "nodes with equal GPUs (sbatch --constraint, --gres=gpu:TYPE:N)");
  });
}

}  // namespace

Compute choose_compute(const CommandContext& context, const TrainOptions& options,
                       const Topology& topology) {
  Communicator& world = context.session.world();
  Compute compute;
  compute.gpu = gpus_by_options(context, options, topology, compute);
  if (!compute.gpu) return compute;
  const CudaApi& cuda = compute.gpu->api.cuda;
  compute.index = agreed(world, [&] {
    const int in_sight = count_gpus(cuda);
    compute.warning = idle_gpus_text(in_sight, topology.local_size);
    return *choose_device(in_sight, topology.local_rank, topology.local_size);
  });
  compute.properties = claim_gpu(cuda, compute.index, world);
  refuse_mixed_kinds(world, compute.properties.name);
  compute.device = c10::Device(compute.gpu->type, static_cast<c10::DeviceIndex>(compute.index));
  compute.ranges = show_ranges({compute.gpu, &cuda});
  compute.reason =
      "GPUs, one a rank (" +
      by_rank(world, fmt::format("GPU {}, {}, {} GiB", compute.index, compute.properties.name,
                                 compute.properties.memory_bytes >> 30U)) +
      ")";
  return compute;
}

void set_arithmetic(const TrainOptions& options, const Compute& compute) {
  if (!compute.on_gpu()) return;
  at::Context& torch = at::globalContext();
  torch.setAllowTF32CuDNN(options.tf32);
  torch.setBenchmarkCuDNN(!options.deterministic);
  torch.setDeterministicCuDNN(options.deterministic);
  torch.setDeterministicAlgorithms(options.deterministic, /*warn_only=*/false);
  if (!options.deterministic) return;
  // Documented by cuBLAS: without it sums depend on which streams are busy. No other thread of the
  // program reads the environment.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe)
}

Backend connect_backend(const CommandContext& context, const TrainOptions& options,
                        const Compute& compute) {
  Communicator& world = context.session.world();
  const std::string mpi = MpiSession::library_version();
  if (!compute.on_gpu()) {
    agreed(world, [&] {
      if (options.backend != "nccl") return;
      throw UsageError("exchange gradients by NCCL, as backend asks",
                       "the ranks compute on CPUs: " + compute.reason,
                       "leave backend at auto, or compute on GPUs");
    });
    return {.device = nullptr,
            .reason = world.size() == 1 ? "none, since there is one rank"
                                        : mpi + " for gradients, sums and files"};
  }
  std::unique_ptr<Communicator> hosts = world.duplicate("gradients");
  if (options.backend == "mpi") {
    return {.device = std::make_unique<StagedCommunicator>(compute.gpu->api.cuda, compute.index,
                                                           std::move(hosts)),
            .reason = mpi +
                      " for everything, as backend asks; gradients go through host memory, "
                      "which is slower than NCCL"};
  }
  NcclOptions nccl;
  nccl.device = compute.index;
  nccl.on_failure = [&context](const Error& error) { end_job(context, error); };
  int version = 0;
  static_cast<void>(compute.gpu->api.nccl.version(&version));
  std::unique_ptr<NcclCommunicator> comm =
      NcclCommunicator::connect(compute.gpu->api, std::move(hosts), nccl);
  const std::function<void()> finish = [nccl_comm = comm.get()] { nccl_comm->finish(); };
  return {.device = std::move(comm),
          .reason = fmt::format("NCCL {}.{}.{} for gradients, {} for sums and files",
                                version / 10000, version / 100 % 100, version % 100, mpi),
          .finish = finish};
}

}  // namespace lockstep
