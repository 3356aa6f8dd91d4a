#include "app/provenance.hpp"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "lockstep/base/version.hpp"
#include "lockstep/io/hdf5_version.hpp"

namespace lockstep {
namespace {

std::string value_or_none(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "none" : found->second;
}

}  // namespace

StoredSettings provenance_of(const CommandContext& context, const Job& job,
                             const PrecisionChoice& precision, const std::string& data) {
  const std::time_t now = std::time(nullptr);
  return {
      {provenance_version, std::string(version())},
      {"libtorch_version", TORCH_VERSION},
      {"mpi_version", MpiSession::library_version()},
      {"hdf5_version", hdf5_version()},
      {"compiler", std::string("GCC-compatible ") + __VERSION__},
      {provenance_ranks, std::to_string(job.topology.world_size)},
      {"nodes", std::to_string(job.topology.node_count)},
      {"threads_per_rank", std::to_string(job.threads)},
      {"device", job.compute.on_gpu() ? job.compute.properties.name : "cpu"},
      {"precision", precision.reason},
      {"host_of_rank_0", job.topology.host},
      {"slurm_job_id", value_or_none(context.environment, "SLURM_JOB_ID")},
      {"slurm_restart_count", value_or_none(context.environment, "SLURM_RESTART_COUNT")},
      {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
      {provenance_data, data},
  };
}

}  // namespace lockstep
