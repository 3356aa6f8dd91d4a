#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

/// The CPUs that this process may run on (sched_getaffinity), ascending. Throws Error.
std::vector<int> affinity_cpus();

/// CPUs as "0-3,8": equal sets have equal texts, so ranks can compare theirs.
std::string cpu_list_text(std::span<const int> cpus);

/// The CPUs of a rank and of those it shares its node with.
struct CpuShare {
  std::int64_t cpus = 1;                  ///< in the rank's affinity mask
  std::string mask{};                     ///< cpu_list_text() of them
  std::vector<std::string> node_masks{};  ///< of all ranks of its node, its own among them
  /// What the scheduler gave each task by its own account; unset where it does not say.
  std::optional<std::int64_t> promised{};
};

struct ThreadChoice {
  std::int64_t threads = 1;
  std::string reason{};
  std::string warning{};  ///< empty where there is nothing to warn of
};

/// How many compute threads a rank runs: `requested` if given, else its fair share of the CPUs.
///
/// srun gives each rank CPUs of its own, mpiexec gives all ranks of a node the same ones: so the
/// CPUs are divided among the ranks with an equal mask, rounded down and at least one each. Warns
/// where the threads of these ranks are more than the CPUs, and where the mask holds fewer CPUs
/// than were promised, as when srun was not told of them (Slurm 22.05 and later).
ThreadChoice threads_per_rank(const CpuShare& share, std::optional<std::int64_t> requested);

}  // namespace lockstep
