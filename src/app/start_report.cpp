#include "app/start_report.hpp"

#include <string>

#include <fmt/format.h>

#include "lockstep/base/shares.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/base/version.hpp"
#include "lockstep/model/model.hpp"

namespace lockstep {
namespace {

std::string data_text(const Dataset* dataset) {
  return dataset == nullptr ? "none"
                            : dataset->name() + " with " + counted(dataset->size(), "sample");
}

std::string batch_text(const BatchOptions& options, const BatchPlan& plan, int ranks) {
  std::string text = counted(plan.global_batch, "sample");
  const std::int64_t product = options.batch_size * ranks * plan.grad_accum_steps;
  if (options.global_batch_size) {
    text += ", as global_batch_size says";
  } else if (product != plan.global_batch) {
    text += ", as the run had before";
  } else {
    text += fmt::format(" = batch_size {} x {}", options.batch_size, counted(ranks, "rank"));
    if (plan.grad_accum_steps > 1) {
      text += fmt::format(" x {} accumulation steps", plan.grad_accum_steps);
    }
  }
  const std::int64_t micro_batch = ceil_div(plan.global_batch, plan.grad_accum_steps);
  return text + fmt::format("; at most {} a rank at a time", ceil_div(micro_batch, ranks));
}

}  // namespace

void report_start(const Job& job, const std::string& backend, const RunSettings& settings,
                  const TrainSetup& setup, Log& log) {
  const Topology& topology = job.topology;
  const Dataset& training = *setup.data.training;
  const std::int64_t parameters = parameter_count(setup.replica->model());
  log.info(fmt::format("Lockstep {}: {} on {}{}", version(), counted(topology.world_size, "rank"),
                       counted(topology.node_count, "node"),
                       job.scheduler.empty() ? "" : ", " + job.scheduler));
  log.info("device: " + job.compute.reason +
           (job.compute.on_gpu() && settings.train.deterministic ? "; deterministic" : ""));
  log.info("backend: " + backend);
  log.info("precision: " + setup.precision.reason);
  log.info("threads: " + job.threads_reason);
  log.info("data: " + data_text(&training) +
           "; validation: " + data_text(setup.data.validation.get()));
  log.info("images: " + setup.transform.description());
  log.info("model: " + counted(parameters, "parameter"));
  const std::string convolutions =
      convolutions_of(setup.replica->model(), setup.precision.precision, job.compute);
  if (!convolutions.empty()) log.info("convolutions: " + convolutions);
  log.info("global batch: " + batch_text(settings.batch, setup.plan, topology.world_size));
  log.info(
      fmt::format("length: {} of {}", counted(settings.train.epochs, "epoch"),
                  counted(windows_in_epoch(training.size(), setup.plan, 0), "optimizer step")));
  log.event("start", {{"lockstep_version", std::string(version())},
                      {"world_size", std::int64_t{topology.world_size}},
                      {"nodes", std::int64_t{topology.node_count}},
                      {"device", job.compute.reason},
                      {"backend", backend},
                      {"precision", setup.precision.reason},
                      {"threads_per_rank", job.threads},
                      {"global_batch", setup.plan.global_batch},
                      {"parameters", parameters},
                      {"output_dir", settings.train.output_dir}});
}

}  // namespace lockstep
