#include "lockstep/bench/all_reduce_bench.hpp"

#include <string>

#include <fmt/format.h>

#include "bench/stopwatch.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t smallest = std::int64_t{4} << 10;
constexpr double least_seconds = 0.02;

std::string size_text(std::int64_t bytes) {
  return bytes < (1 << 20) ? fmt::format("all-reduce of {} KiB", bytes >> 10)
                           : fmt::format("all-reduce of {} MiB", bytes >> 20);
}

/// Messages of one size.
class Messages {
 public:
  Messages(Communicator& comm, Communicator& hosts, const MessageMemory& memory, std::int64_t bytes)
      : comm_(comm), hosts_(hosts), memory_(memory), bytes_(bytes) {
    seconds_each(1);  // connections and buffers are made on first use
    repeats_ = 1 + static_cast<std::int64_t>(least_seconds / seconds_each(1));
  }

  std::int64_t bytes() const { return bytes_; }
  double seconds_each() { return seconds_each(repeats_); }

 private:
  /// Of the slowest rank.
  double seconds_each(std::int64_t repeats) {
    const Buffer buffer{
        .data = memory_.data, .count = bytes_ / 4, .dtype = DType::float32, .memory = memory_.kind};
    memory_.wait();
    hosts_.barrier("start of a measurement");
    const Stopwatch watch;
    for (std::int64_t done = 0; done < repeats; ++done) {
      comm_.all_reduce(buffer, ReduceOp::sum, "measured message");
    }
    memory_.wait();
    return all_reduce_value(hosts_, watch.seconds(), ReduceOp::max, "slowest rank") /
           static_cast<double>(repeats);
  }

  Communicator& comm_;
  Communicator& hosts_;
  const MessageMemory& memory_;
  std::int64_t bytes_;
  std::int64_t repeats_ = 1;
};

}  // namespace

std::vector<Figure> bench_all_reduce(Communicator& comm, Communicator& hosts,
                                     const MessageMemory& memory, std::int64_t blocks,
                                     const BeforeBlock& before_block) {
  std::vector<Messages> sizes;
  std::vector<Figure> figures;
  for (std::int64_t bytes = smallest; bytes <= memory.bytes; bytes *= 4) {
    sizes.emplace_back(comm, hosts, memory, bytes);
    figures.push_back({.name = size_text(bytes), .unit = "us"});
  }
  for (std::int64_t block = 0; block < blocks; ++block) {
    before_block();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      figures[i].blocks.push_back(1e6 * sizes[i].seconds_each());
    }
  }
  const double ranks = comm.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double on_bus = 2 * (ranks - 1) / ranks * static_cast<double>(sizes[i].bytes());
    figures[i].remark = fmt::format("{:.3g} GB/s on the bus", on_bus / median(figures[i]) / 1e3);
  }
  return figures;
}

}  // namespace lockstep
