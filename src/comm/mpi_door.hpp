#pragma once

// The one place where another module's sources (io's) meet MPI: parallel HDF5 needs the MPI_Comm,
// and the elements of its data sets are written by MPI-IO.
#include <string_view>

#include <mpi.h>

#include "lockstep/comm/mpi_communicator.hpp"

#include "comm/mpi_error.hpp"
#include "comm/mpi_types.hpp"

namespace lockstep {

/// A communicator of our own, whose errors are returned rather than fatal, and its operators.
struct MpiCommunicator::Handle {
  /// Duplicates `source`; collective over it.
  Handle(MPI_Comm source, std::string_view purpose);
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();

  MPI_Comm comm = MPI_COMM_NULL;
  MpiOperators operators;
};

/// The MPI communicator behind `comm`, or MPI_COMM_NULL where it is not MPI's (a SelfCommunicator).
inline MPI_Comm mpi_comm_of(const Communicator& comm) {
  const auto* mpi = dynamic_cast<const MpiCommunicator*>(&comm);
  return mpi == nullptr ? MPI_COMM_NULL : mpi->handle().comm;
}

}  // namespace lockstep
