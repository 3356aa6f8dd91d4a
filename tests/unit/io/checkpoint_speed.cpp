// How long a checkpoint takes to write, beside one sequential write of as many bytes with fsync,
// and to verify. Not a test.
//   mpiexec -n 2 io_checkpoint_speed DIRECTORY [MIB [ROUNDS]]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include <fcntl.h>

#include "lockstep/comm/mpi_session.hpp"
#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/io/sealed_file.hpp"

#include "io/posix_file.hpp"

namespace lockstep {
namespace {

constexpr int tensors = 60;

double seconds_of(Communicator& comm, const std::function<void()>& work) {
  comm.barrier("start of a measurement");
  const auto began = std::chrono::steady_clock::now();
  work();
  comm.barrier("end of a measurement");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// A state like a network's: tensors that all ranks hold, and a row of bytes a rank.
class State {
 public:
  State(std::int64_t mib, int ranks)
      : values_(static_cast<std::size_t>((mib << 20) / 4 / tensors), 1.5F), own_(5000) {
    for (int i = 0; i < tensors; ++i) {
      content_.arrays.push_back({.path = "/model/w" + std::to_string(i),
                                 .dtype = DType::float32,
                                 .shape = {static_cast<std::int64_t>(values_.size())},
                                 .data = values_.data()});
    }
    content_.arrays.push_back({.path = "/rng",
                               .dtype = DType::uint8,
                               .shape = {ranks, 5000},
                               .data = own_.data(),
                               .placement = Placement::per_rank});
  }

  const Content& content() const { return content_; }

  /// The tensors one after the other, as one process would write them.
  void write_raw(const std::filesystem::path& path) const {
    const FileDescriptor file = open_file(path, O_CREAT | O_TRUNC | O_WRONLY, "create");
    const auto bytes = std::as_bytes(std::span(values_));
    for (int i = 0; i < tensors; ++i) write_at(file, path, i * std::ssize(bytes), bytes);
    sync_file(path);
  }

 private:
  std::vector<float> values_;
  std::vector<std::uint8_t> own_;
  Content content_;
};

void measure(const std::filesystem::path& directory, std::int64_t mib, int rounds,
             Communicator& comm) {
  const State state(mib, comm.size());
  const FileFormat bare{.name = "lockstep.checkpoint", .version = 1, .user_block = false};
  const auto path = directory / "speed.h5";
  const auto forget = [&] {
    if (comm.rank() == 0) std::filesystem::remove(path);
  };
  std::vector<double> raw;
  std::vector<double> checkpoint;
  for (int round = 0; round < rounds; ++round) {
    raw.push_back(seconds_of(comm, [&] {
      if (comm.rank() == 0) state.write_raw(path);
    }));
    forget();
    const double plain =
        seconds_of(comm, [&] { write_array_file(path, bare, state.content(), comm); });
    forget();
    checkpoint.push_back(seconds_of(comm, [&] { write_checkpoint(path, state.content(), comm); }));
    const double verified =
        seconds_of(comm, [&] { verify_sealed_file(path, checkpoint_format(), comm); });
    forget();
    if (comm.rank() != 0) continue;
    std::printf("raw write %.3f s, without hashes %.3f s, checkpoint %.3f s, verify %.3f s\n",
                raw.back(), plain, checkpoint.back(), verified);
    std::fflush(stdout);
  }
  if (comm.rank() == 0 && rounds > 0) {
    std::printf("%lld MiB on %d ranks: a checkpoint at %.0f %% of a raw write's speed (medians)\n",
                static_cast<long long>(mib), comm.size(), 100 * median(raw) / median(checkpoint));
  }
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  using namespace lockstep;
  MpiSession session(argc, argv);
  if (argc > 1) {
    const auto comm = session.world().duplicate("files");
    IoThread io;
    io.run([&] {
      measure(argv[1], argc > 2 ? std::atoll(argv[2]) : 1024, argc > 3 ? std::atoi(argv[3]) : 3,
              *comm);
    });
  }
  session.finish();
}
