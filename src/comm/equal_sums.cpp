#include "comm/equal_sums.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lockstep/base/narrow.hpp"
#include "lockstep/base/philox.hpp"

#include "comm/mpi_error.hpp"

namespace lockstep {
namespace {

constexpr const char* attempted = "compare the sums that ranks get from an all-reduce";
constexpr std::array lengths{1, 100, 3'000, 40'000, 500'000};

/// Values of both signs and many magnitudes: the rounding of their sums depends on the order.
std::vector<float> rank_values(int rank, int length) {
  PhiloxStream draws(0, narrow<std::uint64_t>(rank));
  std::vector<float> values(narrow<std::size_t>(length));
  for (float& value : values) {
    const std::uint32_t bits = draws.next_uint32();
    const int exponent = narrow<int>(bits % 12) - 6;
    value = std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits)), exponent);
  }
  return values;
}

bool equals_root(const std::vector<float>& sums, MPI_Comm comm) {
  std::vector<float> root_sums = sums;
  check_mpi(MPI_Bcast(root_sums.data(), narrow<int>(sums.size()), MPI_FLOAT, 0, comm), attempted);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(sums[i]) != std::bit_cast<std::uint32_t>(root_sums[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool sums_are_equal_on_all_ranks(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), attempted);
  check_mpi(MPI_Comm_size(comm, &size), attempted);
  if (size <= 2) return true;

  int equal = 1;
  for (const int length : lengths) {
    std::vector<float> sums = rank_values(rank, length);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, sums.data(), length, MPI_FLOAT, MPI_SUM, comm, &request),
              attempted);
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), attempted);
    if (!equals_root(sums, comm)) equal = 0;
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &equal, 1, MPI_INT, MPI_MIN, comm), attempted);
  return equal == 1;
}

}  // namespace lockstep
