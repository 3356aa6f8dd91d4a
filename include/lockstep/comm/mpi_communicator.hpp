#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// Collectives by MPI on host memory. Messages of more than `largest_message` elements are cut into
/// several, since MPI counts are ints.
class MpiCommunicator : public Communicator {
 public:
  static constexpr std::int64_t default_largest_message = std::int64_t{1} << 30;

  /// A duplicate of MPI_COMM_WORLD. Collective over all ranks of the job; MPI must be up.
  static std::unique_ptr<MpiCommunicator> duplicate_world(
      std::int64_t largest_message = default_largest_message);

  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  ~MpiCommunicator() override;

  int rank() const override;
  int size() const override;
  Work start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) override;
  Work start_broadcast(Buffer buffer, int root, std::string_view purpose) override;
  Work start_all_gather(Buffer send, Buffer receive, std::string_view purpose) override;
  Work start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                            std::string_view purpose) override;
  void barrier(std::string_view purpose) override;
  std::unique_ptr<Communicator> duplicate(std::string_view purpose) override;

  /// Holds the MPI_Comm; defined in src/comm/mpi_door.hpp for io, which passes it to HDF5.
  struct Handle;
  const Handle& handle() const { return *handle_; }

 private:
  MpiCommunicator(std::unique_ptr<Handle> handle, std::int64_t largest_message);

  std::unique_ptr<Handle> handle_;
  std::int64_t largest_message_;
};

}  // namespace lockstep
