#include "lockstep/launch/threads.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <sched.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

namespace lockstep {
std::vector<int> affinity_cpus() {
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  // The kernel refuses a set smaller than its own, whose size it does not tell.
  for (int capacity = CPU_SETSIZE;; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(static_cast<std::size_t>(capacity)));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<int> cpus;
      for (int cpu = 0; cpu < capacity; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) cpus.push_back(cpu);
      }
      return cpus;
    }
    if (errno != EINVAL || capacity >= (1 << 20)) {
      throw Error("ask which CPUs this process may use", errno_text(errno));
    }
  }
}

std::string cpu_list_text(std::span<const int> cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

ThreadChoice threads_per_rank(const CpuShare& share, std::optional<std::int64_t> requested) {
  const std::int64_t sharing =
      std::max<std::int64_t>(1, std::ranges::count(share.node_masks, share.mask));
  const std::string cpus = counted(share.cpus, "CPU") + " (" + share.mask + ")";
  ThreadChoice choice;
  if (requested) {
    choice.threads = *requested;
    choice.reason = "as set, on " + cpus;
  } else {
    choice.threads = std::max<std::int64_t>(1, share.cpus / sharing);
    choice.reason =
        sharing == 1 ? "its own " + cpus : cpus + " shared by " + counted(sharing, "rank");
  }
  if (share.promised && *share.promised > share.cpus) {
    choice.warning = "the job has " + counted(*share.promised, "CPU") +
                     " a task, but this one may use only " + cpus +
                     ": srun does not pass --cpus-per-task on by itself; before it, export "
                     "SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK";
  } else if (choice.threads * sharing > share.cpus) {
    choice.warning = counted(sharing, "rank") + " of " + counted(choice.threads, "thread") +
                     (sharing == 1 ? "" : " each") + " on " + cpus +
                     ": more threads than CPUs slow each other down; give the tasks more CPUs "
                     "(srun --cpus-per-task) or use fewer threads";
  }
  return choice;
}

}  // namespace lockstep
