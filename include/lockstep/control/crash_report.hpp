#pragma once

#include <string>

#include "lockstep/control/heartbeat.hpp"

namespace lockstep {

/// While one lives, a process that dies of SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT first writes
/// to standard error which rank it is, on which host and in which phase and step, and its stack,
/// and tells the watchdogs of the other ranks. One a process; destruction restores the handlers
/// that were there before.
class CrashReport {
 public:
  /// `heartbeat` is borrowed.
  CrashReport(int rank, const std::string& host, Heartbeat& heartbeat);
  CrashReport(const CrashReport&) = delete;
  CrashReport& operator=(const CrashReport&) = delete;
  ~CrashReport();
};

}  // namespace lockstep
