#include "lockstep/comm/mpi_session.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include <mpi.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"
#include "lockstep/base/output_drain.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/comm/self_communicator.hpp"

#include "comm/mpi_error.hpp"

namespace lockstep {
namespace {

/// The lowest rank of each rank's node, by rank.
std::vector<int> node_leaders(int rank, int size, Topology& topology) {
  constexpr const char* attempted = "find the ranks of this node";
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node),
            attempted);
  check_mpi(MPI_Comm_rank(node, &topology.local_rank), attempted);
  check_mpi(MPI_Comm_size(node, &topology.local_size), attempted);
  int leader = rank;
  check_mpi(MPI_Bcast(&leader, 1, MPI_INT, 0, node), attempted);
  check_mpi(MPI_Comm_free(&node), attempted);
  std::vector<int> leaders(narrow<std::size_t>(size));
  check_mpi(MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, MPI_COMM_WORLD),
            attempted);
  return leaders;
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "start MPI");
  if (provided < MPI_THREAD_MULTIPLE) {
    throw Error("start MPI", library_version() + " does not give MPI_THREAD_MULTIPLE",
                "an MPI library built with thread support");
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "start MPI");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "ask MPI for the rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_), "ask MPI for the number of ranks");
  if (size_ > 1) {
    world_ = MpiCommunicator::duplicate_world();
  } else {
    world_ = std::make_unique<SelfCommunicator>();
  }
}

MpiSession::~MpiSession() = default;

std::string MpiSession::host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

Topology MpiSession::topology() {
  Topology topology{.rank = rank_, .world_size = size_, .host = host_name()};
  const std::vector<int> leaders = node_leaders(rank_, size_, topology);
  std::vector<int> nodes = leaders;
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  topology.node_count = narrow<int>(nodes.size());
  const int own_leader = leaders[narrow<std::size_t>(rank_)];
  topology.node = narrow<int>(std::ranges::lower_bound(nodes, own_leader) - nodes.begin());
  return topology;
}

std::string MpiSession::library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "ask MPI for its version");
  return short_library_version({text.data(), narrow<std::size_t>(length)});
}

std::string MpiSession::warning() const {
  const auto* mpi = dynamic_cast<const MpiCommunicator*>(world_.get());
  if (mpi == nullptr || mpi->sums_equally()) return {};
  return "the all-reduce of " + library_version() +
         " rounds sums differently from rank to rank; they are reduced to one rank and broadcast "
         "instead, which is slower and does not overlap with computation (its tuning, for MPICH "
         "the variables MPIR_CVAR_IALLREDUCE_*, can choose another algorithm)";
}

void MpiSession::finish() {
  if (finished_) return;
  world_.reset();
  finished_ = true;
  check_mpi(MPI_Finalize(), "end MPI");
}

void MpiSession::abort(int exit_code) {
  await_output_readers();
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

std::string short_library_version(std::string_view text) {
  // MPICH: "MPICH Version:\t4.0.2\nMPICH Release date:..."; Open MPI: "Open MPI v4.1.4,
  // package:...".
  std::string line(text.substr(0, text.find_first_of("\n,")));
  constexpr std::string_view label = " Version:";
  if (const std::size_t found = line.find(label); found != std::string::npos) {
    line.erase(found, label.size());
  }
  std::ranges::replace(line, '\t', ' ');
  while (line.find("  ") != std::string::npos) line.erase(line.find("  "), 1);
  return std::string(trimmed(line));
}

}  // namespace lockstep
