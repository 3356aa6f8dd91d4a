#pragma once

#include <memory>
#include <string>

#include "lockstep/data/hdf5_dataset.hpp"
#include "lockstep/io/hdf5_file.hpp"

namespace lockstep {

/// Reads the samples in group `group` ("" for the root, "/train") of `file` into memory. Throws
/// UsageError, naming the file, the data set, what was found and what was expected, where they are
/// not what `options` and inputs/README.md say. Called on the IO thread.
std::unique_ptr<Dataset> read_hdf5_samples(const Hdf5File& file, const std::string& group,
                                           const Hdf5Options& options);

}  // namespace lockstep
