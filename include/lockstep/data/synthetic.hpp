#pragma once

#include <cstdint>
#include <memory>

#include "lockstep/data/dataset.hpp"
#include "lockstep/data/image_options.hpp"

namespace lockstep {

struct SyntheticOptions {
  std::int64_t synthetic_size = 50'000;
  std::int64_t synthetic_val_size = 10'000;
  ImageOptions image{};  ///< unset: 3 channels, 32 x 32 pixels, 10 classes
};

/// Random images with random labels, for measuring speed: nothing can be learnt from them but by
/// heart. Pixels are standard normal (65,536 equally likely quantiles), labels uniform, both a pure
/// function of (seed, id), made anew at each read. `first_id` is the number of sample 0, so that
/// two data sets of one seed can hold different samples.
std::unique_ptr<Dataset> make_synthetic(const ImageShape& shape, std::int64_t num_classes,
                                        std::int64_t size, std::uint64_t seed,
                                        std::int64_t first_id = 0);

/// The data set named "synthetic": validation samples are numbered on from the training samples.
class SyntheticBuilder : public DatasetBuilder {
 public:
  explicit SyntheticBuilder(SyntheticOptions options = {}) : options_(options) {}

  FieldTable fields() override;
  Splits build(IoThread& io, Communicator& comm, std::uint64_t seed) const override;

 private:
  SyntheticOptions options_;
};

}  // namespace lockstep
