#pragma once

#include "comm/mpi_door.hpp"

namespace lockstep {

/// Who carries out a collective write of MPI-IO.
enum class Writers {
  aggregators,  ///< one process a node gathers what the ranks hand in; all learn of a failure
  every_rank    ///< each its own part; a failure stays its own
};

/// Hints for MPI-IO. They also keep ROMIO from reading, patching and writing back what lies between
/// a rank's parts, for which it would lock the file, which not every file system allows.
class MpiHints {
 public:
  explicit MpiHints(Writers writers) {
    check_mpi(MPI_Info_create(&info_), attempted);
    set("romio_cb_write", writers == Writers::aggregators ? "enable" : "disable");
    set("romio_ds_write", "disable");
  }
  MpiHints(const MpiHints&) = delete;
  MpiHints& operator=(const MpiHints&) = delete;
  ~MpiHints() { MPI_Info_free(&info_); }

  MPI_Info get() const { return info_; }

 private:
  static constexpr const char* attempted = "give MPI-IO hints";

  void set(const char* name, const char* value) {
    check_mpi(MPI_Info_set(info_, name, value), attempted);
  }

  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace lockstep
