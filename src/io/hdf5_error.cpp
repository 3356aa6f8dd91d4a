#include <algorithm>
#include <string>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

#include "io/hdf5.hpp"

namespace lockstep::hdf5 {
namespace {

/// Called by H5Ewalk2 for each entry, the most specific first.
herr_t collect(unsigned, const H5E_error2_t* entry, void* target) {
  std::string reason(trimmed(entry->desc == nullptr ? "" : entry->desc));
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  if (!reason.empty()) static_cast<std::vector<std::string>*>(target)->push_back(reason);
  return 0;
}

/// The most specific reason and what it made impossible; what lies between tells of the library.
std::string text_of(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return "the HDF5 library gives no reason";
  if (reasons.front() == reasons.back()) return reasons.front();
  return reasons.front() + "; " + reasons.back();
}

bool tells_of_a_lock(const std::vector<std::string>& reasons) {
  return std::any_of(reasons.begin(), reasons.end(), [](const std::string& reason) {
    return reason.find("unable to lock file") != std::string::npos ||
           reason.find("file locking disabled") != std::string::npos;
  });
}

}  // namespace

void fail(const std::string& attempted) {
  std::vector<std::string> reasons;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &reasons);
  H5Eclear2(H5E_DEFAULT);
  std::string remedy;
  if (tells_of_a_lock(reasons)) {
    remedy =
        "close the program that has the file open; on a file system without locks set "
        "HDF5_USE_FILE_LOCKING=FALSE";
  }
  throw Error(attempted, text_of(reasons), remedy);
}

hid_t checked(hid_t id, const std::string& attempted) {
  if (id < 0) fail(attempted);
  return id;
}

void check_status(int status, const std::string& attempted) {
  if (status < 0) fail(attempted);
}

}  // namespace lockstep::hdf5
