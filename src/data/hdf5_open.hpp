#pragma once

#include <string>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/io/hdf5_file.hpp"

namespace lockstep {

/// Opens the user's file `path`, the value of setting `option`. Throws UsageError that says what
/// the file is instead of an HDF5 file. Called on the IO thread.
Hdf5File open_data(const std::string& option, const std::string& path);

/// Throws as UsageError, in terms of the user's file, what io threw.
[[noreturn]] void refuse_file(const std::string& path, const Error& error);

/// Does `work`, which reads file `path`; see refuse_file().
template <typename F>
auto reading(const std::string& path, F&& work) {
  try {
    return std::forward<F>(work)();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    refuse_file(path, error);
  }
}

}  // namespace lockstep
