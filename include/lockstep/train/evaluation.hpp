#pragma once

#include <cstdint>
#include <functional>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/control/heartbeat.hpp"
#include "lockstep/data/loader.hpp"
#include "lockstep/io/metrics_file.hpp"
#include "lockstep/model/model.hpp"
#include "lockstep/train/device_batch.hpp"
#include "lockstep/train/precision.hpp"
#include "lockstep/train/tally.hpp"

namespace lockstep {

/// A confusion matrix of more classes than these is not made: it would be 8 MB and more.
constexpr std::int64_t most_confusion_classes = 1024;

struct Evaluation {
  Tally tally;
  ConfusionMatrix confusion;  ///< empty without samples and beyond most_confusion_classes
};

/// What a model makes of the samples of all ranks' `loader`s until their epoch is over, in
/// evaluation mode and without gradients. Leaves model and statistics as they were. `own_work`
/// marks what a batch takes as work of this rank's own; it may be empty. `stop` is asked before
/// each batch whether this rank leaves out the rest, which makes the result one of no use; it may
/// be empty. `upload` takes batches to the model's device; without one it makes its own, with a
/// stream of its own. Collective; ranks have equally many batches, so `stop` may be collective too.
Evaluation evaluate(Model& model, const Precision& precision, Loader& loader, Communicator& comm,
                    const std::function<OwnWork()>& own_work = {},
                    const std::function<bool()>& stop = {}, const BatchUpload* upload = nullptr);

}  // namespace lockstep
