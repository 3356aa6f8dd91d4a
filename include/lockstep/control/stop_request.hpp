#pragma once

#include <chrono>
#include <string>

namespace lockstep {

/// While one lives, SIGTERM, SIGINT, SIGUSR1 and SIGUSR2 ask the program to stop instead of ending
/// the process: the handler only sets a flag. One a process; destruction restores the handlers that
/// were there before.
///
/// Until heed() a signal that comes `patience` or more after the first ends the process: a person
/// may not want to wait until all data are read. Launchers that pass a signal on may send it twice
/// at once. From heed() on further signals change nothing.
class StopRequest {
 public:
  explicit StopRequest(std::chrono::nanoseconds patience = std::chrono::seconds(1));
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();

  /// Number of the first signal received by this process, or 0.
  int signal() const;

  /// From now on signal() is looked at often.
  void heed();

  /// From now on, and beyond any StopRequest's life, these signals do nothing: for a process that
  /// is leaving, whose exit code a late signal must not replace.
  static void ignore_signals();

  /// "SIGTERM" and the like.
  static std::string signal_name(int signal);
};

}  // namespace lockstep
