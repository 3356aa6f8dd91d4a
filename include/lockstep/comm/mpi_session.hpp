#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/launch/topology.hpp"

namespace lockstep {

/// MPI from MPI_Init_thread(MPI_THREAD_MULTIPLE) to MPI_Finalize; one a process, owned by main.
/// A program started without mpiexec or srun is a session of one rank.
class MpiSession {
 public:
  /// Collective over the job. Throws Error where MPI gives no MPI_THREAD_MULTIPLE.
  MpiSession(int& argc, char**& argv);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  /// Without finish() before, leaves MPI alone: a rank that failed must not wait for the others.
  ~MpiSession();

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// All ranks of the job; a SelfCommunicator where there is one. Owned by the session.
  Communicator& world() { return *world_; }

  /// Which ranks share a node, as MPI_Comm_split_type(SHARED) tells. Collective.
  Topology topology();

  /// This process's host, as gethostname() tells it. Not collective.
  static std::string host_name();

  /// "MPICH 4.0.2" or the like.
  static std::string library_version();

  /// What a user should know about the MPI library, such as a slower way that had to be taken;
  /// empty where there is nothing.
  std::string warning() const;

  /// MPI_Finalize; collective. Every communicator but world() must be gone.
  void finish();

  /// Ends every rank of the job at once with `exit_code` (MPI_Abort). Not collective.
  [[noreturn]] static void abort(int exit_code);

 private:
  int rank_ = 0;
  int size_ = 1;
  bool finished_ = false;
  std::unique_ptr<Communicator> world_;
};

/// The name and version in what MPI_Get_library_version returns.
std::string short_library_version(std::string_view text);

}  // namespace lockstep
