#include "io/part_writer.hpp"

#include <optional>

#include <fcntl.h>

#include "lockstep/base/narrow.hpp"
#include "lockstep/base/shares.hpp"

#include "comm/mpi_door.hpp"
#include "io/mpi_hints.hpp"
#include "io/posix_file.hpp"

namespace lockstep {
namespace {

/// A part of this many bytes is written faster by its rank than by way of an aggregator.
constexpr std::int64_t least_written_alone = std::int64_t{1} << 20;

struct DatatypeTraits {
  using type = MPI_Datatype;
  static type empty() { return MPI_DATATYPE_NULL; }
  static void release(type datatype) noexcept { MPI_Type_free(&datatype); }
};
using Datatype = UniqueHandle<DatatypeTraits>;

/// One collective write of this rank: the same bytes in memory and in the file. Without bytes both
/// types are null.
struct Round {
  Datatype memory;
  Datatype file;
};

Datatype committed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& places) {
  const char* attempted = "describe what is to be written";
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_hindexed(narrow<int>(lengths.size()), lengths.data(), places.data(),
                                     MPI_BYTE, &made),
            attempted);
  Datatype datatype(made);
  check_mpi(MPI_Type_commit(&made), attempted);
  return datatype;
}

Round round_of(const std::vector<FilePart>& parts) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> in_memory;
  std::vector<MPI_Aint> in_file;
  for (const FilePart& part : parts) {
    lengths.push_back(narrow<int>(part.bytes.size()));
    MPI_Aint address = 0;
    check_mpi(MPI_Get_address(part.bytes.data(), &address), "find an address");
    in_memory.push_back(address);
    in_file.push_back(narrow<MPI_Aint>(part.offset));
  }
  return {.memory = committed(lengths, in_memory), .file = committed(lengths, in_file)};
}

std::int64_t total_bytes(const std::vector<FilePart>& parts) {
  std::int64_t total = 0;
  for (const FilePart& part : parts) total += narrow<std::int64_t>(part.bytes.size());
  return total;
}

MPI_File mpi_file_of(const hdf5::CollectiveFile& file) {
  void* handle = nullptr;
  hdf5::check_status(H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle),
                     "ask HDF5 for its MPI file");
  return *static_cast<MPI_File*>(handle);
}

/// Writes one round, through a view that leaves out what lies between its parts. Collective.
void write_round(MPI_File file, const Round& round, const MpiHints& hints,
                 const std::string& attempted) {
  const bool none = !round.memory;
  // Both calls are made even where the first fails, since other ranks make them.
  const int seen = MPI_File_set_view(file, 0, MPI_BYTE, none ? MPI_BYTE : round.file.get(),
                                     "native", hints.get());
  const int written = MPI_File_write_at_all(
      file, 0, MPI_BOTTOM, none ? 0 : 1, none ? MPI_BYTE : round.memory.get(), MPI_STATUS_IGNORE);
  check_mpi(seen, attempted);
  check_mpi(written, attempted);
}

/// As HDF5 expects it. Collective.
void restore_view(MPI_File file, const std::string& attempted) {
  const MpiHints hints(Writers::aggregators);
  check_mpi(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", hints.get()), attempted);
}

void write_alone(const std::filesystem::path& path, const std::vector<FilePart>& parts,
                 const WriteOptions& options) {
  const FileDescriptor opened = open_file(path, O_WRONLY, "open");
  for (const FilePart& part : parts) {
    options.moved();
    write_at(opened, path, part.offset, part.bytes);
  }
}

}  // namespace

int write_parts(const hdf5::CollectiveFile& file, const std::filesystem::path& path,
                const std::vector<FilePart>& parts, const WriteOptions& options, Communicator& comm,
                Agreement& agreement) {
  if (mpi_comm_of(comm) == MPI_COMM_NULL) {
    agreement.attempt([&] { write_alone(path, parts, options); });
    return 0;
  }

  const std::int64_t most_bytes =
      all_reduce_value(comm, total_bytes(parts), ReduceOp::max, "bytes of a write");
  const std::int64_t most_rounds = ceil_div(most_bytes, options.largest_transfer);
  if (most_rounds == 0) return 0;

  MPI_File mpi_file = MPI_FILE_NULL;
  std::vector<Round> rounds;
  std::optional<MpiHints> hints;
  agreement.attempt([&] {
    mpi_file = mpi_file_of(file);
    hints.emplace(most_bytes < least_written_alone ? Writers::aggregators : Writers::every_rank);
    for (const auto& round : rounds_of(parts, options.largest_transfer)) {
      rounds.push_back(round_of(round));
    }
    rounds.resize(narrow<std::size_t>(most_rounds));
  });
  if (!agreement.holds()) return 0;

  const std::string attempted = "write data to '" + path.string() + "'";
  Agreement together(comm);
  for (const Round& round : rounds) {
    options.moved();
    together.attempt([&] { write_round(mpi_file, round, *hints, attempted); });
  }
  together.attempt([&] { restore_view(mpi_file, attempted); });
  if (!together.holds()) {
    // MPI-IO keeps to itself what the system said, and to which rank: so each asks once more.
    agreement.attempt([&] { write_alone(path, parts, options); });
    if (agreement.holds()) agreement.attempt([&] { together.settle(); });
  }
  return narrow<int>(most_rounds);
}

}  // namespace lockstep
