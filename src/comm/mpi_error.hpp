#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// Throws Error with MPI's text for `code` unless it is MPI_SUCCESS.
void check_mpi(int code, std::string_view attempted);

}  // namespace lockstep
