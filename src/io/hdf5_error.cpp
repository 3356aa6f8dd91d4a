#include <string>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

#include "io/hdf5.hpp"

namespace lockstep::hdf5 {
namespace {

/// Called by H5Ewalk for each entry, the most specific first.
herr_t collect(unsigned, const H5E_error2_t* entry, void* target) {
  auto& reasons = *static_cast<std::vector<std::string>*>(target);
  const std::string reason(trimmed(entry->desc == nullptr ? "" : entry->desc));
  if (!reason.empty() && (reasons.empty() || reasons.back() != reason)) reasons.push_back(reason);
  return 0;
}

}  // namespace

void fail(const std::string& attempted) {
  std::vector<std::string> reasons;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &reasons);
  H5Eclear2(H5E_DEFAULT);
  std::string reason = joined(reasons, "; ");
  std::string remedy;
  if (reason.find("lock") != std::string::npos && reason.find("block") == std::string::npos) {
    remedy =
        "close the program that has the file open; on a file system without locks set "
        "HDF5_USE_FILE_LOCKING=FALSE";
  }
  throw Error(attempted, reason.empty() ? "the HDF5 library gives no reason" : reason, remedy);
}

hid_t checked(hid_t id, const std::string& attempted) {
  if (id < 0) fail(attempted);
  return id;
}

void check_status(int status, const std::string& attempted) {
  if (status < 0) fail(attempted);
}

}  // namespace lockstep::hdf5
