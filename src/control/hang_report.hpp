#pragma once

#include <span>
#include <string>
#include <vector>

#include "control/hang_judge.hpp"
#include "control/roster.hpp"

namespace lockstep {

/// What the watchdog of rank `observer` says of a verdict: who is to blame, and the slowest ranks
/// with phase, step and age. `ages`: seconds since each rank moved.
std::string hang_report(const Verdict& verdict, std::span<const Sighting> ranks,
                        std::span<const double> ages, std::span<const Member> members,
                        int observer);

}  // namespace lockstep
