#pragma once

// The two halves of read_hdf5_samples().
#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/data/image_options.hpp"
#include "lockstep/io/hdf5_file.hpp"

#include "data/hdf5_samples.hpp"
#include "data/image_layout.hpp"
#include "data/memory_dataset.hpp"

namespace lockstep {

struct Hdf5Images {
  ImageLayout layout;
  MemoryDataset::Pixels pixels;  ///< N,C,H,W
  double scale = 1.0;            ///< what bytes are multiplied by
};

struct Hdf5Labels {
  std::vector<std::int64_t> labels;
  std::int64_t num_classes = 0;
};

/// Throw UsageError as read_hdf5_samples() does.
Hdf5Images read_hdf5_images(const Hdf5File& file, const std::string& dataset,
                            const SampleExpectation& expected);
/// Labels for that many samples. `num_classes` unset: the columns of one-hot labels, or the largest
/// label + 1.
Hdf5Labels read_hdf5_labels(const Hdf5File& file, const std::string& dataset,
                            const std::string& images, std::int64_t samples,
                            std::optional<std::int64_t> num_classes);

/// Throws UsageError("read <dataset> in <file>", ...).
[[noreturn]] void refuse_dataset(const Hdf5File& file, const std::string& dataset,
                                 std::string reason, std::string remedy = {});

}  // namespace lockstep
