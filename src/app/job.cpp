#include "app/job.hpp"

#include <algorithm>
#include <string_view>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "lockstep/base/text.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/data/image_options.hpp"
#include "lockstep/launch/launch_checks.hpp"
#include "lockstep/launch/slurm_environment.hpp"
#include "lockstep/launch/threads.hpp"
#include "lockstep/model/model.hpp"

#include "app/torch_error.hpp"

namespace lockstep {
namespace {

/// The CPUs of this rank and of those on its node. Collective.
CpuShare cpu_share(Communicator& world, const Topology& topology, const SlurmEnvironment& slurm) {
  const std::vector<int> cpus = affinity_cpus();
  CpuShare share{.cpus = std::ssize(cpus),
                 .mask = cpu_list_text(cpus),
                 .node_masks = {},
                 .promised = slurm.in_step() ? slurm.cpus_per_task : std::nullopt};
  const std::string node = std::to_string(topology.node) + ":";
  for (const std::string& other :
       all_gather_text(world, node + share.mask, "nodes and CPUs of the ranks")) {
    if (other.starts_with(node)) share.node_masks.push_back(other.substr(node.size()));
  }
  return share;
}

/// Rank 0 says once what ranks have to warn of, and which. Collective.
void warn_for_all(Communicator& world, Log& log, const std::string& host,
                  const std::string& warning) {
  const std::string where = fmt::format("rank {} ({}): ", world.rank(), host);
  std::vector<std::string> warnings =
      all_gather_text(world, warning.empty() ? "" : where + warning, "warnings of the ranks");
  std::erase(warnings, "");
  if (warnings.empty() || world.rank() != 0) return;
  const std::int64_t others = std::ssize(warnings) - 1;
  log.warn(warnings[0] +
           (others == 0 ? "" : "; " + counted(others, "other rank") + " warned likewise"));
}

std::string threads_text(Communicator& world, const ThreadChoice& choice) {
  const std::int64_t most =
      all_reduce_value(world, choice.threads, ReduceOp::max, "threads of the ranks");
  const std::int64_t least =
      all_reduce_value(world, choice.threads, ReduceOp::min, "threads of the ranks");
  const std::string number =
      least == most ? std::to_string(most) : fmt::format("{} to {}", least, most);
  return broadcast_text(world, fmt::format("{} a rank; rank 0: {}", number, choice.reason), 0,
                        "threads of rank 0");
}

}  // namespace

void end_if_interrupted(const CommandContext& context, const std::string& state) {
  const std::int64_t signal =
      all_reduce_value(context.session.world(), std::int64_t{context.stop.signal()}, ReduceOp::max,
                       "signals that ask for a stop");
  if (signal == 0) return;
  throw AgreedError(
      ExitCode::resumable,
      "interrupted by " + StopRequest::signal_name(static_cast<int>(signal)) + " " + state, {}, {});
}

std::vector<std::string> other_lockstep_variables() {
  return {"LOCKSTEP_CACHE_DIR", "LOCKSTEP_LAUNCH_TIME", "LOCKSTEP_PEER_PYTHON"};
}

Sources sources_of(const CommandContext& context) {
  return {.arguments = context.arguments,
          .environment = context.environment,
          .other_variables = other_lockstep_variables()};
}

bool read_settings(const CommandContext& context, Configuration& configuration) {
  Communicator& world = context.session.world();
  const bool print_only = agreed(world, [&] {
    const Requests requests = configuration.read(sources_of(context));
    configuration.validate();
    if (requests.print_config) context.log.info(configuration.origins_text());
    return requests.print_config;
  });
  // From here on ranks decide by their settings what they do together.
  const std::string settings = configuration.ini_text();
  const std::string root_settings = broadcast_text(world, settings, 0, "rank 0's settings");
  agreed(world, [&] {
    if (settings == root_settings) return;
    throw UsageError(fmt::format("read the configuration on rank {}", world.rank()),
                     "its settings are not those of rank 0",
                     "give all ranks the same flags, files and LOCKSTEP_ environment variables");
  });
  return print_only;
}

Job join_job(const CommandContext& context, const TrainOptions& options) {
  Communicator& world = context.session.world();
  const SlurmEnvironment slurm = SlurmEnvironment::from(context.environment);
  agreed(world, [&] {
    const LaunchFindings findings =
        check_launch(slurm, context.session.size(), options.allow_single);
    if (findings.error) throw UsageError(*findings.error);
    if (context.session.rank() != 0) return;
    for (const std::string& warning : findings.warnings) context.log.warn(warning);
    if (const std::string warning = context.session.warning(); !warning.empty()) {
      context.log.warn(warning);
    }
  });

  Job job;
  job.topology = context.session.topology();
  job.scheduler = slurm.job_text();
  job.compute = choose_compute(context, options, job.topology);
  warn_for_all(world, context.log, job.topology.host, job.compute.warning);
  const ThreadChoice choice =
      threads_per_rank(cpu_share(world, job.topology, slurm), options.threads);
  warn_for_all(world, context.log, job.topology.host, choice.warning);
  job.threads = choice.threads;
  job.threads_reason = threads_text(world, choice);
  at::set_num_threads(static_cast<int>(job.threads));
  return job;
}

PrecisionChoice precision_of(Communicator& world, const TrainOptions& options,
                             const Compute& compute) {
  // Ampere's is the first tensor core that takes bfloat16.
  const bool mine =
      compute.on_gpu() ? compute.properties.compute_major >= 8 : processor_has_bfloat16();
  const std::int64_t all =
      all_reduce_value(world, std::int64_t{mine ? 1 : 0}, ReduceOp::min, "devices with bfloat16");
  return choose_precision(precision_request(options),
                          {.gpu = compute.on_gpu(), .has_bfloat16 = all == 1});
}

ImageClassifierShape shape_of(const Dataset& dataset) {
  const ImageShape shape = dataset.image_shape();
  if (shape.height != shape.width) {
    throw UsageError(
        "build a model for " + dataset.name(),
        "images must be square, but these are " + text_of(shape) + " as they are read",
        "square images, or where they are square, the order of their dimensions: --image_layout "
        "NCHW or NHWC, and the attribute layout of the data set, if it has one");
  }
  return {.in_channels = shape.channels,
          .num_classes = dataset.num_classes(),
          .image_size = shape.height};
}

std::unique_ptr<Model> build_model(const RunSettings& settings, const Dataset& dataset,
                                   const Precision& precision, c10::Device device) {
  const ImageClassifierShape shape = shape_of(dataset);
  try {
    std::unique_ptr<Model> model =
        settings.model().build(shape, static_cast<std::uint64_t>(settings.train.seed));
    convert(*model, precision.parameters, MemoryFormat::channels_last, device);
    return model;
  } catch (const c10::Error& error) {
    if (!device.is_cpu()) throw;  // of whatever kind: it is the GPU's to be explained
    throw UsageError("build the model", text_of(error), "a smaller one, or more memory a task");
  }
}

std::string convolutions_of(const Model& model, const Precision& precision,
                            const Compute& compute) {
  if (compute.on_gpu()) return "cuDNN's, whatever the setting conv_algorithm, which is for CPUs";
  return model.convolutions(precision.autocast ? precision.autocast_dtype : precision.parameters);
}

std::unique_ptr<Loader> evaluation_loader(const RunSettings& settings, const Dataset& dataset,
                                          const Topology& topology, const BatchMemory& memory) {
  const BatchPlan plan{.global_batch = settings.batch.batch_size * topology.world_size};
  return std::make_unique<Loader>(dataset, plan, SampleOrder::sequential, /*seed=*/0, topology.rank,
                                  topology.world_size, settings.loader, ImageTransform(), memory);
}

}  // namespace lockstep
