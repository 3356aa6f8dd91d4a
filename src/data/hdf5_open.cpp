#include "data/hdf5_open.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace lockstep {
namespace {

constexpr std::array<std::uint8_t, 8> hdf5_signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/// Whether the file begins as HDF5 files do: at its start, or behind a user block of 512 bytes or
/// of a power of two times that.
bool has_hdf5_signature(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, hdf5_signature.size()> bytes{};
  for (std::streamoff at = 0; file.seekg(at).read(bytes.data(), std::ssize(bytes));
       at = at == 0 ? 512 : 2 * at) {
    if (std::memcmp(bytes.data(), hdf5_signature.data(), bytes.size()) == 0) return true;
  }
  return false;
}

}  // namespace

Hdf5File open_data(const std::string& option, const std::string& path) {
  const std::string attempted = "open " + option + " '" + path + "'";
  if (path.empty()) {
    throw UsageError("open " + option, "no file is named", "--" + option + " FILE");
  }
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) {
    throw UsageError(attempted,
                     "there is no such file (looked for from " +
                         std::filesystem::current_path(failure).string() + ")",
                     "paths are relative to where the program is started");
  }
  if (std::filesystem::is_directory(path, failure)) {
    throw UsageError(attempted, "it is a directory", "name an HDF5 file");
  }
  if (::access(path.c_str(), R_OK) != 0) throw UsageError(attempted, errno_text(errno));
  if (!has_hdf5_signature(path)) {
    throw UsageError(attempted, "it is not an HDF5 file",
                     "inputs/README.md says how to put data into one");
  }
  return reading(path, [&] { return Hdf5File(path); });
}

void refuse_file(const std::string& path, const Error& error) {
  // Where io knows a remedy, such as for a locked file, it has said it all.
  if (!error.remedy().empty()) throw UsageError(error.attempted(), error.reason(), error.remedy());
  throw UsageError("read " + path,
                   "it is cut short or damaged, or compressed in a way that this HDF5 library does "
                   "not know (" +
                       error.attempted() + ": " + error.reason() + ")",
                   "h5dump " + path +
                       " shows its data where it is sound; if it does not, copy or "
                       "make the file again");
}

}  // namespace lockstep
