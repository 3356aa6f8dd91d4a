#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// Collectives by MPI on host memory. Reductions of float16 and bfloat16 are refused with an Error.
/// A message of more than `largest_message_bytes` is cut into several, since MPI's counts are ints
/// and its implementations compute with them; a wait is for all of them. Results do not depend on
/// the cut but for the rounding of sums, whose order of terms MPI chooses by length.
///
/// Every operation throws Error with MPI's own text where MPI fails, when it starts or when it is
/// waited for.
class MpiCommunicator : public Communicator {
 public:
  static constexpr std::int64_t default_largest_message_bytes = std::int64_t{1} << 30;

  /// A duplicate of MPI_COMM_WORLD, whose all-reduce is tried for equal sums. Collective over all
  /// ranks of the job; MPI must be up.
  static std::unique_ptr<MpiCommunicator> duplicate_world(
      std::int64_t largest_message_bytes = default_largest_message_bytes);

  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  ~MpiCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Work start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) override;
  Work start_broadcast(Buffer buffer, int root, std::string_view purpose) override;
  Work start_all_gather(Buffer send, Buffer receive, std::string_view purpose) override;
  Work start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                            std::string_view purpose) override;
  void barrier(std::string_view purpose) override;
  std::unique_ptr<Communicator> duplicate(std::string_view purpose) override;

  /// Whether MPI's own all-reduce was found to give equal sums on all ranks. Where it was not,
  /// floating-point sums are reduced to rank 0 and broadcast, before start_all_reduce returns.
  bool sums_equally() const { return sums_equally_; }

  /// Holds the MPI_Comm; defined in src/comm/mpi_door.hpp for io, which passes it to HDF5.
  struct Handle;
  const Handle& handle() const { return *handle_; }

 private:
  MpiCommunicator(std::unique_ptr<Handle> handle, std::int64_t largest_message_bytes,
                  bool sums_equally);

  std::unique_ptr<Handle> handle_;
  std::int64_t largest_message_bytes_;
  bool sums_equally_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace lockstep
