#include "lockstep/base/error.hpp"

#include "comm/mpi_door.hpp"
#include "io/hdf5.hpp"
#include "io/mpi_hints.hpp"
#include "io/user_block.hpp"

namespace lockstep::hdf5 {
namespace {

constexpr const char* attempted = "set an HDF5 property";

/// Every way into the library begins here, so here its printing of errors is turned off: fail()
/// puts them into the Error instead.
PropertyList property_list(hid_t kind) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return PropertyList(checked(H5Pcreate(kind), attempted));
}

void use_no_locks([[maybe_unused]] const PropertyList& access) {
#if H5_VERSION_GE(1, 10, 7) && !(H5_VERS_MAJOR == 1 && H5_VERS_MINOR == 12 && H5_VERS_RELEASE == 0)
  check_status(H5Pset_file_locking(access.get(), false, true), attempted);
#endif
}

void use_mpi_io(const PropertyList& access, MPI_Comm comm) {
  // Where each rank writes by itself and one fails, HDF5 leaves the others waiting for it.
  const MpiHints hints(Writers::aggregators);  // copied by HDF5
  check_status(H5Pset_fapl_mpio(access.get(), comm, hints.get()), attempted);
  // Metadata is the same on all ranks: one writes it for all.
  check_status(H5Pset_all_coll_metadata_ops(access.get(), true), attempted);
  check_status(H5Pset_coll_metadata_write(access.get(), true), attempted);
}

}  // namespace

CollectiveFile create_file(const std::filesystem::path& path, bool user_block, Communicator& comm) {
  const PropertyList access = property_list(H5P_FILE_ACCESS);
  // Superblock 2 of HDF5 1.8: later ones mark a file as open for writing, which a crash leaves set.
  check_status(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110), attempted);
  // The temporary name is nobody else's.
  use_no_locks(access);
  const MPI_Comm mpi = mpi_comm_of(comm);
  check(mpi != MPI_COMM_NULL || comm.size() == 1, "create an HDF5 file",
        "several ranks can only do so over an MpiCommunicator");
  if (mpi != MPI_COMM_NULL) use_mpi_io(access, mpi);

  const PropertyList creation = property_list(H5P_FILE_CREATE);
  check_status(H5Pset_obj_track_times(creation.get(), false), attempted);
  if (user_block) check_status(H5Pset_userblock(creation.get(), user_block_bytes), attempted);
  return CollectiveFile(
      checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()),
              "create '" + path.string() + "'"));
}

FileHandle open_file(const std::filesystem::path& path, bool locked) {
  const PropertyList access = property_list(H5P_FILE_ACCESS);
  if (!locked) use_no_locks(access);
  return FileHandle(checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()),
                            "open '" + path.string() + "' as HDF5"));
}

void close_file(CollectiveFile& file, const std::filesystem::path& path) {
  check_status(H5Fclose(file.detach()), "finish writing '" + path.string() + "'");
}

}  // namespace lockstep::hdf5
