#include "lockstep/train/evaluation.hpp"

#include <optional>
#include <span>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "lockstep/train/forward.hpp"

namespace lockstep {
namespace {

void count_confusions(const ForwardPass& pass, ConfusionMatrix& confusion) {
  const at::Tensor predicted = pass.logits.argmax(1);
  const auto* labels = pass.labels.const_data_ptr<std::int64_t>();
  const auto* classes = predicted.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < pass.labels.numel(); ++i) ++confusion.at(labels[i], classes[i]);
}

}  // namespace

Evaluation evaluate(Model& model, const Precision& precision, Loader& loader, std::int64_t classes,
                    Communicator& comm, const std::function<void(Doing)>& beat) {
  const at::NoGradGuard no_gradients;
  Evaluation mine;
  if (classes <= most_confusion_classes) mine.confusion = ConfusionMatrix(classes);
  model.set_training(false);
  loader.start_epoch(0);
  if (beat) beat(Doing::own_work);
  while (std::optional<Batch> batch = loader.next()) {
    if (batch->samples > 0) {
      const ForwardPass pass = forward(model, precision, *batch, /*label_smoothing=*/0.0);
      mine.tally += tally_of(pass);
      if (!mine.confusion.empty()) count_confusions(pass, mine.confusion);
    }
    loader.recycle(std::move(*batch));
    if (beat) beat(Doing::own_work);
  }
  if (beat) beat(Doing::joining);
  model.set_training(true);
  mine.tally = reduced(comm, mine.tally, "validation sums");
  comm.all_reduce(buffer_of(std::span(mine.confusion.counts)), ReduceOp::sum, "confusion matrix");
  return mine;
}

}  // namespace lockstep
