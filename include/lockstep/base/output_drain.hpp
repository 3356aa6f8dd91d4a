#pragma once

namespace lockstep {

/// Waits, for a second at most, until who reads this process's standard output and error through
/// pipes has taken everything. Launchers may drop what they have not read when a rank aborts, as
/// MPICH's does, and with it the reason. Async-signal-safe.
void await_output_readers() noexcept;

}  // namespace lockstep
