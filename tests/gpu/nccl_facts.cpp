// What is to be known of NCCL and no document says. Each prints lines "FACT name = value", which
// run.sh records; nothing is right or wrong here but that the question could be asked.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <string>

#include <dlfcn.h>
#include <pthread.h>

#include "lockstep/base/content_hash.hpp"

#include "gpu/gpu_fixture.hpp"

namespace {

std::atomic<int> threads_created{0};

}  // namespace

/// Counts the threads that any library of the process creates: the program's symbols come first.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  ++threads_created;
  return real(thread, attributes, start, argument);
}

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class NcclFacts : public OnGpu {
 protected:
  void tell(const std::string& name, const std::string& value) {
    if (rank() == 0) std::printf("FACT %s = %s\n", name.c_str(), value.c_str());
  }
  bool needs_two_ranks() { return size() < 2; }
};

constexpr const char* one_rank = "cannot be answered by one rank";

TEST_F(NcclFacts, ThreadsAndTimeALaunchTakes) {
  if (needs_two_ranks()) GTEST_SKIP() << one_rank;  // NCCL launches nothing there
  constexpr int rounds = 50;
  const auto comm = connect();
  const GpuValues bucket(DType::float32, std::vector<double>(1U << 20U, 1.0), compute);
  const auto measure = [&](const std::string& name, const std::function<void()>& launch) {
    for (int i = 0; i < 5; ++i) launch();  // NCCL connects ranks at first use
    require(real_gpu_api().cuda.synchronize_stream(compute));
    const int before = threads_created;
    const auto begin = Clock::now();
    for (int i = 0; i < rounds; ++i) launch();
    const double seconds = seconds_since(begin);
    tell("threads created by " + std::to_string(rounds) + " launches of " + name,
         std::to_string(threads_created - before));
    tell("host microseconds a launch of " + name, std::to_string(seconds * 1e6 / rounds));
    require(real_gpu_api().cuda.synchronize_stream(compute));
  };
  const auto reduce = [&] {
    return comm->start_all_reduce(bucket.buffer(), ReduceOp::max, "4 MiB");
  };
  measure("one all-reduce of 4 MiB", [&] { reduce().wait(); });
  measure("a group of two all-reduces", [&] {
    Work first;
    Work second;
    comm->grouped([&] {
      first = reduce();
      second = reduce();
    });
    first.wait();
    second.wait();
  });
  comm->finish();
}

std::vector<double> random_values(std::size_t count, int rank) {
  std::mt19937 generator(static_cast<unsigned>(rank) + 1);
  std::uniform_real_distribution<double> size(0.001, 1.0);
  std::vector<double> values(count);
  for (double& value : values) value = generator() % 2 == 0 ? size(generator) : -size(generator);
  return values;
}

TEST_F(NcclFacts, SumsAreEqualToTheBitOnAllRanks) {
  if (needs_two_ranks()) GTEST_SKIP() << one_rank;
  const auto comm = connect();
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    for (const std::size_t count : {1UL, 1023UL, 65'537UL, 2'776'522UL}) {
      const GpuValues values(dtype, random_values(count, rank()), compute);
      comm->all_reduce(values.buffer(), ReduceOp::sum, "random numbers");
      ContentHash hash;
      hash.add(values.memory());
      const std::vector<std::string> all = all_gather_text(world(), hash.text(), "hashes");
      const bool equal = std::set<std::string>(all.begin(), all.end()).size() == 1;
      tell("sum of " + std::to_string(count) + " " + std::string(name_of(dtype)) + " on all ranks",
           equal ? "equal to the bit" : "differs");
    }
  }
  comm->finish();
}

TEST_F(NcclFacts, WhatBecomesOfANanInMaximumAndMinimum) {
  if (needs_two_ranks()) GTEST_SKIP() << one_rank;
  const auto comm = connect();
  for (const DType dtype : {DType::bfloat16, DType::float32, DType::float64}) {
    for (const int who : {0, size() - 1}) {
      for (const ReduceOp op : {ReduceOp::max, ReduceOp::min}) {
        const double own = rank() == who ? std::numeric_limits<double>::quiet_NaN() : 1.0;
        const GpuValues values(dtype, {own}, compute);
        comm->all_reduce(values.buffer(), op, "a NaN");
        const std::string here = std::isnan(values.get().front()) ? "NaN" : "the number";
        std::string on_ranks;
        for (const std::string& text : all_gather_text(world(), here, "results")) {
          on_ranks += (on_ranks.empty() ? "" : ", ") + text;
        }
        tell(std::string(op == ReduceOp::max ? "max" : "min") + " of 1 and a NaN of rank " +
                 std::to_string(who) + ", " + std::string(name_of(dtype)) + ", by rank",
             on_ranks);
      }
    }
  }
  comm->finish();
}

/// Asked in a launch of its own, since it may not return.
TEST_F(NcclFacts, AbortReturnsWithAStuckKernel) {
  if (needs_two_ranks()) GTEST_SKIP() << one_rank;
  auto comm = connect();
  const GpuValues values(DType::float32, std::vector<double>(1U << 20U, 1.0), compute);
  comm->all_reduce(values.buffer(), ReduceOp::sum, "what connects the ranks");
  static_cast<void>(values.get());
  world().barrier("before the kernel that waits for ever");
  if (rank() == 0) {
    Work stuck = comm->start_all_reduce(values.buffer(), ReduceOp::sum, "rank 0 alone");
    const auto begin = Clock::now();
    while (seconds_since(begin) < 1) EXPECT_FALSE(stuck.done());
  }
  const auto begin = Clock::now();
  if (rank() == 0) comm.reset();
  const double seconds = seconds_since(begin);
  require(real_gpu_api().cuda.synchronize_stream(compute));
  world().barrier("after giving up");
  tell("ncclCommAbort with a kernel that waits for a rank",
       "returns after " + std::to_string(seconds) + " s");
}

}  // namespace
}  // namespace lockstep
