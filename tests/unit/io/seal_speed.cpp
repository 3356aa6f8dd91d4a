// How long a checkpoint takes to write without and with hashes, and to verify. Not a test.
//   mpiexec -n 2 io_seal_speed DIRECTORY [MIB [ROUNDS]]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <vector>

#include "lockstep/comm/mpi_session.hpp"
#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/io/sealed_file.hpp"

namespace lockstep {
namespace {

double seconds_of(Communicator& comm, const std::function<void()>& work) {
  comm.barrier("start of a measurement");
  const auto began = std::chrono::steady_clock::now();
  work();
  comm.barrier("end of a measurement");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void measure(const std::filesystem::path& directory, std::int64_t mib, int rounds,
             Communicator& comm) {
  const std::int64_t elements = (mib << 20) / 4 / 60;
  const std::vector<float> values(static_cast<std::size_t>(elements), 1.5F);
  Content content;
  for (int i = 0; i < 60; ++i) {
    content.arrays.push_back({.path = "/model/w" + std::to_string(i),
                              .dtype = DType::float32,
                              .shape = {elements},
                              .data = values.data()});
  }
  const FileFormat bare{.name = "lockstep.checkpoint", .version = 1, .user_block = false};
  const auto path = directory / "speed.h5";
  for (int round = 0; round < rounds; ++round) {
    const double plain = seconds_of(comm, [&] { write_array_file(path, bare, content, comm); });
    const double sealed = seconds_of(comm, [&] { write_checkpoint(path, content, comm); });
    const double again = seconds_of(comm, [&] { seal_file(path, checkpoint_format(), comm); });
    write_checkpoint(path, content, comm);
    const double verified =
        seconds_of(comm, [&] { verify_sealed_file(path, checkpoint_format(), comm); });
    if (comm.rank() == 0) {
      std::printf(
          "write without hashes %.3f s, with %.3f s, of it sealing about %.3f s; "
          "verify %.3f s\n",
          plain, sealed, again, verified);
      std::fflush(stdout);
    }
  }
  if (comm.rank() == 0) std::filesystem::remove(path);
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
