#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lockstep/base/text.hpp"
#include "lockstep/base/version.hpp"
#include "lockstep/bench/all_reduce_bench.hpp"
#include "lockstep/bench/checkpoint_bench.hpp"
#include "lockstep/bench/loader_bench.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/atomic_text.hpp"

#include "app/bench_memory.hpp"
#include "app/commands.hpp"
#include "app/guard.hpp"
#include "app/job.hpp"
#include "app/scaling_bench.hpp"
#include "app/setting_names.hpp"
#include "app/step_bench.hpp"
#include "app/train_setup.hpp"

namespace lockstep {
namespace {

constexpr const char* group = "Measurement";
constexpr const char* interrupted =
    "before the measurement was over; the same command starts it again";

struct BenchSettings {
  BenchSettings() : run(builtin_components()) {
    run.configuration().add(
        group,
        {field("blocks", blocks, "how often everything is measured, in turn", between(1, 10000)),
         field("steps", steps, "step and scaling: optimizer steps a block", between(1, 1 << 20)),
         field("block_seconds", block_seconds, "loader: length of a block", between(0.01, 3600)),
         field("largest_message", largest_message, "allreduce: MiB; sizes go up to it from 4 KiB",
               between(1, 1 << 16)),
         field("link_latency", link.latency_us,
               "scaling: microseconds from rank to rank; 0: as measured", at_least(0.0)),
         field("link_bandwidth", link.gb_per_second,
               "scaling: GB/s from rank to rank; 0: as measured", at_least(0.0)),
         field("file_size", file_size, "checkpoint: MiB", between(1, 1 << 24)),
         field("directory", directory, "checkpoint: where the files are written and removed"),
         field("json", json, "also write all figures to this file; empty: none")});
  }

  std::int64_t blocks = 10;
  std::int64_t steps = 5;
  double block_seconds = 1.0;
  std::int64_t largest_message = 64;
  GivenLink link;
  std::int64_t file_size = 256;
  std::string directory = ".";
  std::string json;
  RunSettings run;
};

/// What measurements have in common.
struct Bench {
  const CommandContext& context;
  const BenchSettings& settings;
  const Job& job;
  Files& files;

  Communicator& world() const { return context.session.world(); }
  BeforeBlock before_block() const {
    return [this] { end_if_interrupted(context, interrupted); };
  }
};

std::vector<Figure> measure_all_reduce(const Bench& bench) {
  const Backend backend =
      connect_backend(bench.context, bench.settings.run.train, bench.job.compute);
  std::vector<Figure> figures;
  {
    const BenchMemory memory(bench.job.compute, bench.settings.largest_message << 20);
    figures = bench_all_reduce(backend.device ? *backend.device : bench.world(), bench.world(),
                               memory.message(), bench.settings.blocks, bench.before_block());
  }
  if (backend.finish) backend.finish();
  return figures;
}

std::vector<Figure> measure_loader(const Bench& bench) {
  const RunSettings& run = bench.settings.run;
  const Splits data = agreed(bench.world(), [&] {
    return run.dataset().build(bench.files.io, *bench.files.comm,
                               static_cast<std::uint64_t>(run.train.seed));
  });
  const BatchPlan plan = batch_plan(run.batch, bench.world().size());
  const ImageTransform transform = agreed(bench.world(), [&] {
    check_plan(data.training->size(), plan);
    return make_transform(run.transform, *data.training);
  });
  return bench_loader(*data.training, plan, run.loader, transform, bench.world(),
                      bench.settings.blocks, bench.settings.block_seconds, bench.before_block());
}

std::vector<Figure> measure_step(const Bench& bench) {
  return bench_step(bench.context, bench.settings.run, bench.job, bench.files,
                    bench.settings.blocks, bench.settings.steps, bench.before_block());
}

std::vector<Figure> measure_scaling(const Bench& bench) {
  return bench_scaling(bench.context, bench.settings.run, bench.job, bench.files,
                       bench.settings.blocks, bench.settings.steps, bench.settings.link,
                       bench.before_block());
}

std::vector<Figure> measure_checkpoint(const Bench& bench) {
  const std::filesystem::path directory = bench.settings.directory;
  agreed(bench.world(), [&] {
    if (bench.world().rank() != 0 || std::filesystem::is_directory(directory)) return;
    throw UsageError("write files into " + directory.string(), "there is no such directory",
                     "--directory on the file system that is to be measured");
  });
  return bench.files.io.run([&] {
    return bench_checkpoint(directory, bench.settings.file_size, *bench.files.comm,
                            bench.settings.blocks, bench.before_block());
  });
}

struct Measurement {
  const char* name;
  const char* summary;
  std::vector<Figure> (*measure)(const Bench&);
};

constexpr std::array measurements{
    Measurement{"step", "training steps with the chosen model, data and settings", measure_step},
    Measurement{"allreduce", "gradients' way between the ranks, by size of message",
                measure_all_reduce},
    Measurement{"loader", "training batches of the chosen data set with its transforms",
                measure_loader},
    Measurement{"checkpoint", "collective writes beside a raw one, and verifying",
                measure_checkpoint},
    Measurement{"scaling", "steps projected to 1024 ranks, and the model beside waiting ranks",
                measure_scaling},
};

Measurement chosen(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const Measurement& one : measurements) names.emplace_back(one.name);
  const std::string remedy = "lockstep bench " + joined(names, "|") + " [--SETTING VALUE]...";
  if (arguments.empty() || arguments[0].starts_with('-')) {
    throw UsageError("measure something", "it is not said what", remedy);
  }
  for (const Measurement& one : measurements) {
    if (one.name == arguments[0]) return one;
  }
  throw UsageError("measure something", unknown_name_text("measurement", arguments[0], names),
                   remedy);
}

}  // namespace

std::string bench_help() {
  std::string text =
      "usage: lockstep bench WHAT [--SETTING VALUE]...   (with srun or mpiexec: on all ranks)\n\n";
  for (const Measurement& one : measurements) {
    text += fmt::format("  {:<12}{}\n", one.name, one.summary);
  }
  const BenchSettings settings;
  const auto shows = [](std::string_view in_group, std::string_view name) {
    using namespace setting_names;
    return in_group == group || in_group == "Data" || contains(used_in_bench, name);
  };
  return text +
         "\nFigures take turns in each block, and minimum, median and maximum over the blocks are "
         "printed.\n`step` and `scaling` heed all settings of `lockstep train`, also those that "
         "are not listed "
         "here.\n\n" +
         settings.run.configuration().help_text({.first_group = group, .shows = shows});
}

ExitCode bench_command(const CommandContext& context) {
  Communicator& world = context.session.world();
  const Measurement measurement = agreed(world, [&] { return chosen(context.arguments); });
  CommandContext rest = context;
  rest.arguments.erase(rest.arguments.begin());
  BenchSettings settings;
  if (read_settings(rest, settings.run.configuration())) return ExitCode::success;
  const Job job = join_job(rest, settings.run.train);
  Files files{.comm = world.duplicate("files")};
  const std::vector<Figure> figures = measurement.measure({rest, settings, job, files});

  const Circumstances circumstances{
      {"measurement", measurement.name},
      {"lockstep", std::string(version())},
      {"ranks", counted(world.size(), "rank") + " on " + counted(job.topology.node_count, "node")},
      {"device", job.compute.reason},
      {"threads", job.threads_reason},
      {"mpi", MpiSession::library_version()}};
  agreed(world, [&] {
    if (world.rank() != 0) return;
    for (const auto& [name, value] : circumstances)
      std::printf("%s: %s\n", name.c_str(), value.c_str());
    std::printf("\n%s", table_text(figures).c_str());
    if (!settings.json.empty()) {
      write_text_atomically(settings.json, json_text(circumstances, figures));
    }
  });
  return ExitCode::success;
}

}  // namespace lockstep
