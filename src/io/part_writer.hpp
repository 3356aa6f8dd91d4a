#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/array_file.hpp"

#include "io/file_parts.hpp"
#include "io/hdf5.hpp"

namespace lockstep {

/// Writes every rank's parts into a file that HDF5 has open: all of them by one collective call
/// of MPI-IO, through the handle that HDF5 itself uses, unless a rank has more than
/// `options.largest_transfer` bytes. Without MPI by pwrite(2). Returns the number of collective
/// calls. Collective; failures are kept in `agreement`.
int write_parts(const hdf5::CollectiveFile& file, const std::filesystem::path& path,
                const std::vector<FilePart>& parts, const WriteOptions& options, Communicator& comm,
                Agreement& agreement);

}  // namespace lockstep
