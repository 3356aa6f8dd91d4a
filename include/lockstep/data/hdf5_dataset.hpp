#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lockstep/data/dataset.hpp"
#include "lockstep/data/image_options.hpp"

namespace lockstep {

/// Keys are names of data sets in the file; "auto": found by what they are called and hold.
struct Hdf5Options {
  std::string train_data{};
  std::string val_data{};
  std::string image_key = "auto";
  std::string label_key = "auto";
  std::string val_image_key = "auto";
  std::string val_label_key = "auto";
  std::string image_layout = "auto";
  double val_fraction = 0.0;
  ImageOptions image{};
};

/// The data set named "hdf5": images and labels from HDF5 files, held in memory on each rank.
/// inputs/README.md states what is understood. Validation data is, in this order: val_data; what
/// train_data itself holds for validation; a fraction val_fraction of the training samples, chosen
/// by number alone, so that runs of any seed are validated on the same.
class Hdf5Builder : public DatasetBuilder {
 public:
  explicit Hdf5Builder(Hdf5Options options = {}) : options_(std::move(options)) {}

  FieldTable fields() override;
  Splits build(IoThread& io, Communicator& comm, std::uint64_t seed) const override;

 private:
  Hdf5Options options_;
};

}  // namespace lockstep
