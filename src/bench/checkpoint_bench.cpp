#include "lockstep/bench/checkpoint_bench.hpp"

#include <cerrno>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/file_descriptor.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/sealed_file.hpp"

#include "bench/stopwatch.hpp"

namespace lockstep {
namespace {

constexpr int tensors = 60;
constexpr std::int64_t own_bytes = 5000;  // of a rank, as random number generators take

/// A state like a network's: tensors that all ranks hold, and a row of bytes a rank.
class State {
 public:
  State(std::int64_t mib, int ranks)
      : values_(static_cast<std::size_t>((mib << 20) / 4 / tensors), 1.5F),
        own_(static_cast<std::size_t>(own_bytes)) {
    for (int i = 0; i < tensors; ++i) {
      content_.arrays.push_back({.path = "/model/w" + std::to_string(i),
                                 .dtype = DType::float32,
                                 .shape = {std::ssize(values_)},
                                 .data = values_.data()});
    }
    content_.arrays.push_back({.path = "/rng",
                               .dtype = DType::uint8,
                               .shape = {ranks, own_bytes},
                               .data = own_.data(),
                               .placement = Placement::per_rank});
  }

  const Content& content() const { return content_; }

  /// The tensors one after the other, as one process would write them.
  void write_raw(const std::filesystem::path& path) const {
    const FileDescriptor file(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666));
    bool good = static_cast<bool>(file);
    for (int i = 0; good && i < tensors; ++i) good = write_all(file.get());
    if (!good || ::fsync(file.get()) != 0) {
      throw Error("write " + path.string(), errno_text(errno));
    }
  }

 private:
  bool write_all(int file) const {
    auto rest = std::as_bytes(std::span(values_));
    while (!rest.empty()) {
      const ssize_t written = ::write(file, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      rest = rest.subspan(static_cast<std::size_t>(written));
    }
    return true;
  }

  std::vector<float> values_;
  std::vector<std::byte> own_;
  Content content_;
};

double seconds_of(Communicator& comm, const std::function<void()>& work) {
  comm.barrier("start of a measurement");
  const Stopwatch watch;
  work();
  return all_reduce_value(comm, watch.seconds(), ReduceOp::max, "slowest rank");
}

}  // namespace

std::vector<Figure> bench_checkpoint(const std::filesystem::path& directory, std::int64_t mib,
                                     Communicator& comm, std::int64_t blocks,
                                     const BeforeBlock& before_block) {
  const State state(mib, comm.size());
  FileFormat bare = checkpoint_format();
  bare.user_block = false;
  const std::filesystem::path path = directory / ".lockstep-bench.h5";
  const auto forget = [&] {
    std::error_code ignored;
    if (comm.rank() == 0) std::filesystem::remove(path, ignored);
  };
  Figure raw{.name = "raw write by one rank", .unit = "MiB/s"};
  Figure plain{.name = "HDF5 without hashes", .unit = "MiB/s"};
  Figure checkpoint{.name = "checkpoint", .unit = "MiB/s"};
  Figure verified{.name = "verifying it", .unit = "MiB/s"};
  const auto measure = [&](Figure& figure, const std::function<void()>& work) {
    figure.blocks.push_back(static_cast<double>(mib) / seconds_of(comm, work));
  };
  for (std::int64_t block = 0; block < blocks; ++block) {
    before_block();
    measure(raw, [&] {
      agreed(comm, [&] {
        if (comm.rank() == 0) state.write_raw(path);
      });
    });
    forget();
    measure(plain, [&] { write_array_file(path, bare, state.content(), comm); });
    forget();
    measure(checkpoint, [&] { write_checkpoint(path, state.content(), comm); });
    measure(verified, [&] { verify_sealed_file(path, checkpoint_format(), comm); });
    forget();
  }
  return {raw, plain, checkpoint, verified};
}

}  // namespace lockstep
