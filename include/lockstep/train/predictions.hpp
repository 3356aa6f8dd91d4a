#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lockstep/base/shares.hpp"
#include "lockstep/control/heartbeat.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/loader.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/model/model.hpp"
#include "lockstep/train/precision.hpp"

namespace lockstep {

/// What a model says of consecutive samples of a data set.
struct Predictions {
  std::int64_t classes = 0;
  std::vector<float> logits;            ///< samples x classes; softmax makes probabilities of them
  std::vector<std::int64_t> predicted;  ///< samples: the class with the highest score
  std::vector<std::int64_t> labels;     ///< samples: the data set's
};

/// What predict_rows() asks for before each batch; either may be empty.
struct PredictionHooks {
  std::function<OwnWork()> own_work = {};  ///< marks what the batch takes
  std::function<bool()> stop = {};         ///< whether the rest is left out
};

/// Predictions of the samples in `rows`, in evaluation mode, without gradients, `batch_size` at a
/// time, which lie in `memory`. Throws Error where a sample cannot be read. Not collective.
Predictions predict_rows(Model& model, const Precision& precision, const Dataset& dataset,
                         const Share& rows, std::int64_t batch_size, const LoaderOptions& options,
                         const PredictionHooks& hooks = {}, const BatchMemory& memory = {});

/// format="lockstep.predictions".
FileFormat predictions_format();

/// /logits[sample, class], /predicted[sample] and /label[sample] of a data set of `samples`
/// samples, of which each rank predicted its balanced_share(). The views borrow.
std::vector<ArrayView> arrays_of(const Predictions& mine, std::int64_t samples);

}  // namespace lockstep
