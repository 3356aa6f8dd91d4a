#include "comm/mpi_error.hpp"

#include <array>

#include <mpi.h>

#include "lockstep/base/error.hpp"

namespace lockstep {

void check_mpi(int code, std::string_view attempted) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw Error(std::string(attempted),
              length > 0 ? std::string(text.data(), static_cast<std::size_t>(length))
                         : "MPI error " + std::to_string(code));
}

}  // namespace lockstep
