#pragma once

#include <memory>
#include <string>

#include "lockstep/data/dataset.hpp"
#include "lockstep/data/image_options.hpp"
#include "lockstep/io/hdf5_file.hpp"

#include "data/hdf5_search.hpp"

namespace lockstep {

/// What is known of images and labels before they are read.
struct SampleExpectation {
  ImageOptions image;        ///< what is unset follows the data
  std::string layout;        ///< as for likely_layouts()
  std::string shape_text;    ///< `image`'s shape for people, behind "images are ..., but "
  std::string shape_remedy;  ///< what to do where it is another
};

/// Reads samples into memory. Throws UsageError, naming the file, the data set, what was found and
/// what was expected, where they are not what inputs/README.md says. Called on the IO thread.
std::unique_ptr<Dataset> read_hdf5_samples(const Hdf5File& file, const SampleKeys& keys,
                                           const SampleExpectation& expected);

}  // namespace lockstep
