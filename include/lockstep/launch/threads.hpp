#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

/// The CPUs that this process may run on (sched_getaffinity), ascending. Throws Error.
std::vector<int> affinity_cpus();

/// How many those are.
std::int64_t affinity_cpu_count();

/// CPUs as "0-3,8": equal sets have equal texts, so ranks can compare theirs.
std::string cpu_list_text(std::span<const int> cpus);

struct ThreadChoice {
  std::int64_t threads = 1;
  std::string warning{};  ///< empty where there is nothing to warn of
};

/// How many compute threads a rank runs: `requested` if given, else its fair share of the CPUs.
///
/// `cpu_count` CPUs are in the rank's affinity mask `mask`, and `node_masks` holds the masks of all
/// ranks of its node, its own among them. srun gives each rank CPUs of its own, mpiexec gives all
/// ranks of a node the same ones: so the CPUs are divided among the ranks with an equal mask,
/// rounded down and at least one each. Warns where the threads of these ranks are more than the
/// CPUs.
ThreadChoice threads_per_rank(std::int64_t cpu_count, const std::string& mask,
                              std::span<const std::string> node_masks,
                              std::optional<std::int64_t> requested);

}  // namespace lockstep
