#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lockstep/data/dataset.hpp"

namespace lockstep {

struct Hdf5Options {
  std::string train_data{};
  std::string val_data{};
  std::string image_key = "images";
  std::string label_key = "labels";
  double val_fraction = 0.0;
  std::int64_t num_classes = 10;
  std::int64_t in_channels = 3;
  std::int64_t image_size = 32;
};

/// The data set named "hdf5": images and integer labels from HDF5 files, held in memory on each
/// rank. inputs/README.md states the layouts that are understood. Validation data is, in this
/// order: val_data; the group `validation` beside a group `train` in train_data; a fraction
/// val_fraction of the training samples, chosen by number alone, so that runs of any seed are
/// validated on the same.
class Hdf5Builder : public DatasetBuilder {
 public:
  explicit Hdf5Builder(Hdf5Options options = {}) : options_(std::move(options)) {}

  FieldTable fields() override;
  Splits build(IoThread& io, Communicator& comm, std::uint64_t seed) const override;

 private:
  Hdf5Options options_;
};

}  // namespace lockstep
