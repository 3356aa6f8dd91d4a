#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/control/heartbeat.hpp"
#include "lockstep/launch/topology.hpp"

namespace lockstep {

struct WatchdogOptions {
  double hang_timeout = 600.0;  ///< seconds without a move before a rank counts as hanging
  bool use_sockets = true;
  bool use_shared_memory = true;
  /// Where reports go; unset: standard error.
  std::function<void(std::string_view)> report{};
  /// Ends every rank of the job; unset: MPI_Abort, and where that does not return, _exit after 5 s.
  std::function<void()> end_job{};
};

/// A thread of each rank that watches all ranks' beats and ends the job where one hangs or died:
/// every rank that can still speak names the culprit, then the job is aborted. Beats travel in
/// shared memory within a node and by UDP between nodes, never by MPI.
///
/// A rank of each node speaks for all of it, so that one which is stopped (SIGSTOP, a debugger)
/// does not make its node fall silent.
class Watchdog {
 public:
  /// `heartbeat` is this rank's, and is attached to the watchdog while both live. Stacks are those
  /// of the calling thread. Collective.
  Watchdog(Communicator& comm, const Topology& topology, WatchdogOptions options,
           Heartbeat& heartbeat);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  /// Says to the others that this rank has left. Not collective.
  ~Watchdog();

  /// What this watchdog cannot see, for a warning; empty where it sees everything.
  const std::string& shortcoming() const;

  /// From now on reports are appended to this file too.
  void also_report_to(const std::filesystem::path& file);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
