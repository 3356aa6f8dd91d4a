#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lockstep/base/field.hpp"

namespace lockstep {

class Communicator;
class IoThread;

/// Extents of one image, stored channel by channel, row by row.
struct ImageShape {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;

  /// Values of one image.
  std::int64_t size() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// Labelled images, numbered from 0: what id i holds never changes. Any number of threads may read
/// at once; reading calls neither HDF5 nor MPI.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// What messages call this data set, e.g. "inputs/digits.h5:/train".
  virtual const std::string& name() const = 0;
  virtual std::int64_t size() const = 0;
  virtual ImageShape image_shape() const = 0;
  virtual std::int64_t num_classes() const = 0;

  /// The class of sample `id`, in [0, num_classes()).
  virtual std::int64_t label(std::int64_t id) const = 0;
  /// Writes sample `id`'s image (C x H x W values) into `image` and returns its label. Throws where
  /// the sample cannot be read.
  virtual std::int64_t read(std::int64_t id, std::span<float> image) const = 0;
};

/// What one run trains on and is validated on.
struct Splits {
  std::unique_ptr<Dataset> training;
  std::unique_ptr<Dataset> validation;  ///< null where there is none
  std::string fingerprint;              ///< of the training data
};

/// A kind of data set, chosen by name: holds its options, and makes the data from them.
class DatasetBuilder {
 public:
  virtual ~DatasetBuilder() = default;

  /// The options; refers to this builder, which must outlive the table.
  virtual FieldTable fields() = 0;
  /// Opens or makes the data. Collective over `comm`: every rank ends with the same samples, or
  /// every rank throws the same error (UsageError where the options do not fit the data). Files are
  /// read on `io`'s thread.
  virtual Splits build(IoThread& io, Communicator& comm, std::uint64_t seed) const = 0;
};

/// Tells whether two runs see the same data: XXH3 (128 bits, as 32 hexadecimal digits) of the
/// number of samples, the image shape, the number of classes, all labels, and the images of at most
/// 1024 evenly spaced samples. No path and no time enters.
std::string fingerprint(const Dataset& dataset);

}  // namespace lockstep
