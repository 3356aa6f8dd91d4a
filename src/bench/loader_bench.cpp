#include "lockstep/bench/loader_bench.hpp"

#include <ctime>
#include <utility>

#include "lockstep/bench/endless_batches.hpp"
#include "lockstep/data/epoch_order.hpp"

#include "bench/stopwatch.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t seed = 1;

/// Of all threads.
double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double nanoseconds_a_lookup(std::int64_t block) {
  constexpr std::int64_t samples = 1'000'000'000;
  constexpr std::int64_t lookups = 100'000;
  const EpochOrder order(seed, block, samples);
  const Stopwatch watch;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < lookups; ++i) sum += order.at(i * (samples / lookups));
  const double seconds = watch.seconds();
  // Looks at the sum, so that no compiler leaves the work out.
  return sum < 0 ? 0.0 : 1e9 * seconds / static_cast<double>(lookups);
}

}  // namespace

std::vector<Figure> bench_loader(const Dataset& dataset, const BatchPlan& plan,
                                 const LoaderOptions& options, const ImageTransform& transform,
                                 Communicator& comm, std::int64_t blocks, double block_seconds,
                                 const BeforeBlock& before_block) {
  Loader loader(dataset, plan, SampleOrder::shuffled, seed, comm.rank(), comm.size(), options,
                transform);
  EndlessBatches batches(loader);
  const auto take = [&] {
    Batch batch = batches.next();
    const std::int64_t samples = batch.samples;
    loader.recycle(std::move(batch));
    return samples;
  };
  Figure rate{.name = "loader", .unit = "images/s", .remark = "all ranks"};
  Figure rate_by_core{
      .name = "loader", .unit = "images/s a core", .remark = "by processor time of all threads"};
  Figure order{.name = "order of 10^9 samples", .unit = "ns a sample"};
  take();  // threads and memory are made on first use
  for (std::int64_t block = 0; block < blocks; ++block) {
    before_block();
    const double processor_before = processor_seconds();
    const Stopwatch watch;
    std::int64_t images = 0;
    while (watch.seconds() < block_seconds) images += take();
    const auto of_all = [&](double value) {
      return all_reduce_value(comm, value, ReduceOp::sum, "loader's figures");
    };
    const double seconds = watch.seconds();
    const double processor = of_all(processor_seconds() - processor_before);
    rate.blocks.push_back(of_all(static_cast<double>(images) / seconds));
    rate_by_core.blocks.push_back(of_all(static_cast<double>(images)) / processor);
    order.blocks.push_back(of_all(nanoseconds_a_lookup(block)) / comm.size());
  }
  return {rate, rate_by_core, order};
}

}  // namespace lockstep
