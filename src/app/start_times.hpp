#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lockstep/base/log.hpp"
#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// Seconds since this process was started, in the kernel's ticks (of 10 ms, mostly); 0 where it
/// does not say.
double process_age_seconds();

/// What a start consists of, from the launch of the program to the first optimizer step.
class StartTimes {
 public:
  /// `launched`: seconds since 1970. What comes before this call is the program's loading.
  explicit StartTimes(double launched);

  /// `part` is what was done since the part before. Not collective.
  void done(std::string part);

  /// Says how long each part took on the slowest and the fastest rank, as text and as the event
  /// "start_times" (seconds on the slowest). All ranks have done the same parts. Collective.
  void report(Communicator& world, Log& log) const;

 private:
  double last_;  // by the steady clock
  std::vector<std::pair<std::string, double>> parts_;
};

}  // namespace lockstep
