#pragma once

#include <string>

namespace lockstep {

/// While one lives, SIGTERM, SIGINT, SIGUSR1 and SIGUSR2 ask the training to stop instead of ending
/// the process: the handler only sets a flag, and a second signal changes nothing. One a process;
/// destruction restores the handlers that were there before.
class StopRequest {
 public:
  StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  /// Number of the first signal received by this process, or 0.
  int signal() const;

  /// From now on, and beyond any StopRequest's life, these signals do nothing: for a process that
  /// is leaving, whose exit code a late signal must not replace.
  static void ignore_signals();

  /// "SIGTERM" and the like.
  static std::string signal_name(int signal);
};

}  // namespace lockstep
