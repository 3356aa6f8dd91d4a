#include "app/freed_memory.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace lockstep {
namespace {

constexpr std::size_t bytes = std::size_t{96} << 20U;

/// Pages that the system had to find for a piece of memory that is taken, filled and given back.
long pages_found() {
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  const long before = faults();
  void* const memory = std::malloc(bytes);
  std::memset(memory, 1, bytes);
  // So that the compiler cannot leave all of it out.
  asm volatile("" : : "r"(memory) : "memory");
  std::free(memory);
  return faults() - before;
}

/// In a process of its own, since the allocator's set-up stays. Ends with 0 where memory is kept.
void expect_kept(const EnvironmentMap& environment, bool kept) {
  EXPECT_EXIT(
      {
        keep_freed_memory(environment);
        const long first = pages_found();
        const long again = pages_found();
        // A page may be large, and others of the process may be new.
        std::_Exit(first > 20 && again > first / 2 ? 1 : 0);
      },
      testing::ExitedWithCode(kept ? 0 : 1), "");
}

TEST(FreedMemory, IsKept) {
  expect_kept({{"HOME", "/home/user"}}, true);
}

TEST(FreedMemory, IsLeftToTheUsersSetUp) {
  expect_kept({{"MALLOC_TRIM_THRESHOLD_", "131072"}}, false);
  expect_kept({{"GLIBC_TUNABLES", "glibc.malloc.check=0"}}, false);
}

}  // namespace
}  // namespace lockstep
