#include "io/hdf5.hpp"

/// Whether the library was started and not ended. Exported by HDF5, though in none of its headers;
/// weak, for a version that has it no more.
extern "C" __attribute__((weak)) hbool_t H5_libinit_g;

namespace lockstep::hdf5 {
namespace {

/// Makes the library believe that it has ended, so that what it has MPI_Finalize call does nothing.
void keep_from_ending() {
  if (&H5_libinit_g != nullptr) H5_libinit_g = false;
}

}  // namespace

Library::Library() {
  H5dont_atexit();
  H5open();
}

Library::~Library() {
  if (H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE) == 0) {
    H5close();
  } else {
    keep_from_ending();
  }
}

}  // namespace lockstep::hdf5
