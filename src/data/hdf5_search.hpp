#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lockstep/io/hdf5_file.hpp"

namespace lockstep {

/// Where a file holds a set of samples: absolute paths of two data sets.
struct SampleKeys {
  std::string images;
  std::string labels;
  std::string
      name;  ///< what messages call the set: its group, or its images where that is not enough
};

/// What is looked for.
struct SampleSearch {
  /// Of what part of the data, as groups or parts of names spell it: "train" stands for the group
  /// /train, for /train_<name> and /<name>_train. An earlier word is preferred.
  std::vector<std::string> words;
  /// Whether names without any such word will do, too.
  bool plain = false;
  std::string image_key = "auto";
  std::string label_key = "auto";
  // What the settings that give the keys are called.
  std::string image_setting = "image_key";
  std::string label_setting = "label_key";
};

/// Finds images and their labels, as inputs/README.md says: by the keys, or else by usual names, or
/// else the only data set that can be the images and the only one that can be their labels. Empty
/// where there are no images that the search is for. Throws UsageError, listing what could be
/// meant, where the choice is not clear or there are no labels.
std::optional<SampleKeys> find_samples(const Hdf5File& file, const SampleSearch& search);

/// "/x (uint8 [4, 3, 8, 8]), /y (int64 [4])": all data sets of the file, or the first few.
std::string contents_text(const Hdf5File& file);

/// "[4, 3, 8, 8]".
std::string text_of(const std::vector<std::int64_t>& extents);

}  // namespace lockstep
