#include "lockstep/train/predictions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "lockstep/base/error.hpp"
#include "lockstep/train/forward.hpp"

namespace lockstep {
namespace {

template <typename T>
void append_rows(std::vector<T>& to, const at::Tensor& rows) {
  const at::Tensor contiguous = rows.cpu().contiguous();
  const T* first = contiguous.const_data_ptr<T>();
  to.insert(to.end(), first, first + contiguous.numel());
}

}  // namespace

Predictions predict_rows(Model& model, const Precision& precision, const Dataset& dataset,
                         const Share& rows, std::int64_t batch_size, const LoaderOptions& options,
                         const PredictionHooks& hooks, const BatchMemory& memory) {
  Predictions predictions;
  predictions.classes = dataset.num_classes();
  if (rows.count == 0) return predictions;
  const at::NoGradGuard no_gradients;
  model.set_training(false);
  const BatchUpload upload(device_of(model), precision.parameters);
  // As one process alone, from the first row on; the samples behind the last are not used.
  Loader loader(dataset, {.global_batch = std::min(batch_size, rows.count)},
                SampleOrder::sequential, /*seed=*/0, /*rank=*/0, /*world=*/1, options,
                ImageTransform(), memory);
  loader.start_epoch(0, rows.start);
  for (std::int64_t done = 0; done < rows.count && !(hooks.stop && hooks.stop());) {
    const OwnWork work = hooks.own_work ? hooks.own_work() : OwnWork();
    std::optional<Batch> batch = loader.next();
    check(batch.has_value(), "predict", "the loader ended too early");
    const std::int64_t used = std::min(batch->samples, rows.count - done);
    const at::Tensor logits = logits_of(model, precision, upload(*batch)).narrow(0, 0, used);
    append_rows(predictions.logits, logits.to(at::kFloat));
    append_rows(predictions.predicted, logits.argmax(1));
    predictions.labels.insert(predictions.labels.end(), batch->labels.begin(),
                              batch->labels.begin() + used);
    done += used;
    loader.recycle(std::move(*batch));
  }
  model.set_training(true);
  return predictions;
}

FileFormat predictions_format() {
  return {.name = "lockstep.predictions", .version = 1};
}

std::vector<ArrayView> arrays_of(const Predictions& mine, std::int64_t samples) {
  const auto classes = [](const char* path, std::int64_t count,
                          const std::vector<std::int64_t>& values) {
    return ArrayView{.path = path,
                     .dtype = DType::int64,
                     .shape = {count},
                     .data = values.data(),
                     .placement = Placement::rows,
                     .units = "class"};
  };
  return {{.path = "/logits",
           .dtype = DType::float32,
           .shape = {samples, mine.classes},
           .data = mine.logits.data(),
           .placement = Placement::rows,
           .units = "1"},
          classes("/predicted", samples, mine.predicted),
          classes("/label", samples, mine.labels)};
}

}  // namespace lockstep
