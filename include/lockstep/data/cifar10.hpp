#pragma once

#include <string>
#include <utility>

#include "lockstep/data/dataset.hpp"
#include "lockstep/data/image_options.hpp"

namespace lockstep {

struct Cifar10Options {
  std::string train_data{};  ///< the folder of the files, or the one it was unpacked in
  ImageOptions image{};
};

/// The data set named "cifar10": the binary version of CIFAR-10 as its authors publish it
/// (A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009), held in memory
/// on each rank. data_batch_1.bin to data_batch_5.bin are trained on, test_batch.bin is validated
/// on. A record is one byte for the label and 3 x 32 x 32 bytes of pixels, which become fractions
/// of 255; a file is any number of records.
class Cifar10Builder : public DatasetBuilder {
 public:
  explicit Cifar10Builder(Cifar10Options options = {}) : options_(std::move(options)) {}

  FieldTable fields() override;
  Splits build(IoThread& io, Communicator& comm, std::uint64_t seed) const override;

 private:
  Cifar10Options options_;
};

}  // namespace lockstep
