#pragma once

#include <map>
#include <memory>
#include <string>

#include "lockstep/app/components.hpp"
#include "lockstep/config/configuration.hpp"
#include "lockstep/data/batch_options.hpp"
#include "lockstep/data/image_transform.hpp"
#include "lockstep/data/loader.hpp"
#include "lockstep/ddp/gradient_reducer.hpp"
#include "lockstep/train/options.hpp"
#include "lockstep/train/replica.hpp"

namespace lockstep {

/// All settings of a run and the builders they choose between, merged into one configuration. The
/// builders of kinds that are not chosen are there too, so that their settings have help and are
/// checked.
class RunSettings {
 public:
  explicit RunSettings(const Components& components);
  RunSettings(const RunSettings&) = delete;
  RunSettings& operator=(const RunSettings&) = delete;

  TrainOptions train;
  BatchOptions batch;
  TransformOptions transform;
  LoaderOptions loader;
  ReducerOptions reducer;
  GradScalerOptions scaler;

  Configuration& configuration() { return configuration_; }
  const Configuration& configuration() const { return configuration_; }

  /// Throws UsageError listing what does not go together in a training with these settings. Not
  /// among the configuration's checks: a resumed run's settings are complete only when those of its
  /// checkpoint have been taken over.
  void check_training() const;

  /// What was set although the component it belongs to is not chosen, one text a component.
  std::vector<std::string> idle_settings() const;

  ReplicaOptions replica_options(const Precision& precision) const;

  // Those chosen by name.
  const DatasetBuilder& dataset() const { return *datasets_.at(dataset_); }
  const ModelBuilder& model() const { return *models_.at(model_); }
  const OptimizerBuilder& optimizer() const { return *optimizers_.at(optimizer_); }
  const ScheduleBuilder& schedule() const { return *schedules_.at(schedule_); }

 private:
  template <typename Builder>
  using Builders = std::map<std::string, std::unique_ptr<Builder>>;

  std::string dataset_ = "synthetic";
  std::string model_ = "mini_resnet";
  std::string optimizer_ = "sgd";
  std::string schedule_ = "cosine";
  Builders<DatasetBuilder> datasets_;
  Builders<ModelBuilder> models_;
  Builders<OptimizerBuilder> optimizers_;
  Builders<ScheduleBuilder> schedules_;
  Configuration configuration_;
};

/// The names of settings that a resumed run may change: where it writes, how often, and what makes
/// it faster, but nothing that its trajectory depends on.
bool may_change_on_resume(const std::string& name);

}  // namespace lockstep
