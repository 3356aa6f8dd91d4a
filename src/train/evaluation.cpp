#include "lockstep/train/evaluation.hpp"

#include <optional>
#include <span>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "lockstep/train/device_batch.hpp"
#include "lockstep/train/forward.hpp"
#include "lockstep/train/outcomes.hpp"

namespace lockstep {
namespace {

void count_confusions(const at::Tensor& logits, std::span<const std::int64_t> labels,
                      ConfusionMatrix& confusion) {
  const std::int64_t number_of_classes = logits.size(1);
  if (number_of_classes > most_confusion_classes) return;
  if (confusion.empty()) confusion = ConfusionMatrix(number_of_classes);
  const at::Tensor predicted = logits.argmax(1).cpu();
  const auto* classes = predicted.const_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < labels.size(); ++i) ++confusion.at(labels[i], classes[i]);
}

/// Ranks that had no sample have no matrix yet.
void add_up(ConfusionMatrix& confusion, Communicator& comm) {
  const std::int64_t number_of_classes =
      all_reduce_value(comm, confusion.classes, ReduceOp::max, "number of classes");
  if (confusion.empty()) confusion = ConfusionMatrix(number_of_classes);
  comm.all_reduce(buffer_of(std::span(confusion.counts)), ReduceOp::sum, "confusion matrix");
}

}  // namespace

Evaluation evaluate(Model& model, const Precision& precision, Loader& loader, Communicator& comm,
                    const std::function<OwnWork()>& own_work, const std::function<bool()>& stop,
                    const BatchUpload* upload) {
  const at::NoGradGuard no_gradients;
  Evaluation mine;
  at::Tensor outcomes;
  std::optional<BatchUpload> own_upload;
  if (upload == nullptr) upload = &own_upload.emplace(device_of(model), precision.parameters);
  model.set_training(false);
  loader.start_epoch(0);
  while (!(stop && stop())) {
    const OwnWork work = own_work ? own_work() : OwnWork();
    std::optional<Batch> batch = loader.next();
    if (!batch) break;
    if (batch->samples > 0) {
      const ForwardPass pass =
          forward(model, precision, (*upload)(*batch), /*label_smoothing=*/0.0);
      add(outcomes, outcomes_of(pass));
      count_confusions(pass.logits, batch->labels, mine.confusion);
    }
    loader.recycle(std::move(*batch));
  }
  model.set_training(true);
  mine.tally = reduced(comm, tally_of(outcomes), "validation sums");
  add_up(mine.confusion, comm);
  return mine;
}

}  // namespace lockstep
