#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "lockstep/base/narrow.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/loader.hpp"
#include "lockstep/ddp/gradient_reducer.hpp"
#include "lockstep/model/mini_resnet.hpp"
#include "lockstep/optim/sgd.hpp"
#include "lockstep/train/evaluation.hpp"
#include "lockstep/train/outcomes.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/training_step.hpp"

#include "support/fields.hpp"

namespace lockstep::test {

/// Logits are the image's values times a matrix: small enough to follow by hand.
class LinearModel : public Model {
 public:
  explicit LinearModel(at::Tensor weight)
      : weight_(tensors_.add_parameter("weight", std::move(weight))) {}

  at::Tensor forward(const at::Tensor& images) override {
    return at::linear(images.flatten(1), weight_);
  }
  std::vector<NamedTensor> parameters() const override { return tensors_.parameters(); }
  std::vector<NamedTensor> buffers() const override { return {}; }
  void set_training(bool /*training*/) override {}

 private:
  NetworkTensors tensors_;
  at::Tensor weight_;
};

/// Images and labels from memory.
class ListDataset : public Dataset {
 public:
  ListDataset(std::vector<std::vector<float>> images, std::vector<std::int64_t> labels,
              ImageShape shape)
      : images_(std::move(images)), labels_(std::move(labels)), shape_(shape) {}

  const std::string& name() const override { return name_; }
  std::int64_t size() const override { return std::ssize(labels_); }
  ImageShape image_shape() const override { return shape_; }
  std::int64_t num_classes() const override { return 10; }
  std::int64_t label(std::int64_t id) const override {
    return labels_[static_cast<std::size_t>(id)];
  }
  std::int64_t read(std::int64_t id, std::span<float> image) const override {
    const auto& values = images_[static_cast<std::size_t>(id)];
    std::copy(values.begin(), values.end(), image.begin());
    return label(id);
  }

 private:
  std::string name_ = "a list";
  std::vector<std::vector<float>> images_;
  std::vector<std::int64_t> labels_;
  ImageShape shape_;
};

/// Windows of 8 images for a network with batch norm, the middle one's last image maybe broken: in
/// the last rank's share.
inline ListDataset pictures(float broken = 0.5F) {
  std::vector<std::vector<float>> images;
  std::vector<std::int64_t> labels;
  for (int id = 0; id < 24; ++id) {
    std::vector<float> image;
    for (int i = 0; i < 64; ++i) {
      image.push_back(static_cast<float>(std::sin(0.37 * id * 64 + 0.11 * i)));
    }
    if (id == 15) image[5] = broken;
    images.push_back(std::move(image));
    labels.push_back(id % 4);
  }
  return {images, labels, {1, 8, 8}};
}

/// For these.
inline std::unique_ptr<Model> network(DType dtype, at::Device device = at::kCPU) {
  const auto builder = built_with<MiniResNetBuilder>({{"width", "8"}});
  auto model = builder.build({.in_channels = 1, .num_classes = 4, .image_size = 8}, 7);
  convert(*model, dtype, MemoryFormat::channels_last, device);
  return model;
}

/// A model in training on this test's ranks, step by step.
struct Training {
  std::unique_ptr<Communicator> comm;  ///< gradients'
  Replica replica;
  GradientReducer reducer;
  TrainingStep step;

  Training(std::unique_ptr<Model> model, const OptimizerBuilder& optimizer,
           const Precision& precision, const StepOptions& options = {},
           const ReplicaOptions& extras = {},
           std::unique_ptr<Communicator> gradients = MpiCommunicator::duplicate_world())
      : comm(std::move(gradients)),
        replica(std::move(model), optimizer, extras),
        reducer(replica.parameters(), replica.buffers(), *comm, {}),
        step(replica, reducer, precision, options) {}

  /// One epoch in the data set's order. Returns a report a window.
  std::vector<StepReport> train(const Dataset& data, const BatchPlan& plan, double lr) {
    std::vector<StepReport> reports;
    for (const StepResult& result : issue(data, plan, lr)) reports.push_back(report_of(result));
    tally = tally_of(outcomes);
    return reports;
  }

  /// The same without a look at what became of it.
  std::vector<StepResult> issue(const Dataset& data, const BatchPlan& plan, double lr) {
    Loader loader(data, plan, SampleOrder::sequential, 0, comm->rank(), comm->size(),
                  {.num_workers = 0});
    loader.start_epoch(0);
    std::vector<StepResult> results;
    while (std::optional<Batch> batch = loader.next()) {
      const MicroBatch& micro_batch = batch->micro_batch;
      if (micro_batch.index == 0) {
        step.begin_window(rank_samples(micro_batch.window, plan, comm->rank(), comm->size()),
                          micro_batch.window.samples);
      }
      add(outcomes, step.run_micro_batch(*batch));
      if (batch->micro_batch.last_of_window) results.push_back(step.finish_window(lr));
      loader.recycle(std::move(*batch));
    }
    return results;
  }

  at::Tensor outcomes;  ///< this rank's, of all windows
  Tally tally;          ///< the same, read
};

inline SgdBuilder sgd(const char* momentum = "0") {
  return built_with<SgdBuilder>({{"momentum", momentum}, {"weight_decay", "0"}});
}

}  // namespace lockstep::test
