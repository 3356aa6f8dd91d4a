#include "app/job.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/launch/launch_checks.hpp"
#include "lockstep/launch/slurm_environment.hpp"
#include "lockstep/launch/threads.hpp"
#include "lockstep/model/model.hpp"

namespace lockstep {
namespace {

/// Masks of the ranks on this rank's node. Collective.
std::vector<std::string> node_masks(Communicator& world, const Topology& topology,
                                    const std::string& mask) {
  const std::vector<std::string> nodes =
      all_gather_text(world, std::to_string(topology.node), "nodes of the ranks");
  const std::vector<std::string> masks = all_gather_text(world, mask, "CPUs of the ranks");
  std::vector<std::string> on_this_node;
  for (std::size_t rank = 0; rank < masks.size(); ++rank) {
    if (nodes[rank] == std::to_string(topology.node)) on_this_node.push_back(masks[rank]);
  }
  return on_this_node;
}

}  // namespace

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
  agreed(world, [&] {
    const LaunchFindings findings = check_launch(SlurmEnvironment::from(context.environment),
                                                 context.session.size(), options.allow_single);
    if (findings.error) throw UsageError(*findings.error);
    if (context.session.rank() != 0) return;
    for (const std::string& warning : findings.warnings) context.log.warn(warning);
    if (const std::string warning = context.session.warning(); !warning.empty()) {
      context.log.warn(warning);
    }
  });

  Job job;
  job.topology = context.session.topology();
  const std::vector<int> cpus = affinity_cpus();
  const std::string mask = cpu_list_text(cpus);
  const ThreadChoice choice =
      threads_per_rank(static_cast<std::int64_t>(cpus.size()), mask,
                       node_masks(world, job.topology, mask), options.threads);
  job.threads = choice.threads;
  if (!choice.warning.empty() && context.session.rank() == 0) context.log.warn(choice.warning);
  job.threads_reason =
      fmt::format("{} thread{} each ({} of CPUs {})", job.threads, job.threads == 1 ? "" : "s",
                  options.threads ? "as set" : "a fair share", mask);
  at::set_num_threads(static_cast<int>(job.threads));
  return job;
}

PrecisionChoice precision_of(Communicator& world, const TrainOptions& options) {
  const std::int64_t mine = processor_has_bfloat16() ? 1 : 0;
  const std::int64_t all = all_reduce_value(world, mine, ReduceOp::min, "processors with bfloat16");
  return choose_precision(precision_request(options), all == 1);
}

ImageClassifierShape shape_of(const Dataset& dataset) {
  const ImageShape shape = dataset.image_shape();
  if (shape.height != shape.width) {
    throw UsageError("build a model for " + dataset.name(),
                     fmt::format("its images are {} x {} pixels", shape.height, shape.width),
                     "images must be square");
  }
  return {.in_channels = shape.channels,
          .num_classes = dataset.num_classes(),
          .image_size = shape.height};
}

std::unique_ptr<Model> build_model(const RunSettings& settings, const Dataset& dataset,
                                   const Precision& precision) {
  std::unique_ptr<Model> model =
      settings.model().build(shape_of(dataset), static_cast<std::uint64_t>(settings.train.seed));
  convert(*model, precision.parameters, MemoryFormat::channels_last);
  return model;
}

std::unique_ptr<Loader> evaluation_loader(const RunSettings& settings, const Dataset& dataset,
                                          const Topology& topology) {
  const BatchPlan plan{.global_batch = settings.batch.batch_size * topology.world_size};
  return std::make_unique<Loader>(dataset, plan, SampleOrder::sequential, /*seed=*/0, topology.rank,
                                  topology.world_size, settings.loader);
}

}  // namespace lockstep
