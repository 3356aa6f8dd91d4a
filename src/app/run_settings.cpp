#include "lockstep/app/run_settings.hpp"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/control/fault_injector.hpp"

#include "app/setting_names.hpp"

namespace lockstep {
namespace {

template <typename Builder>
std::map<std::string, std::unique_ptr<Builder>> build_all(
    const Registry<std::unique_ptr<Builder>()>& registry) {
  std::map<std::string, std::unique_ptr<Builder>> builders;
  for (const std::string& name : registry.names()) builders[name] = registry.find(name)();
  return builders;
}

template <typename Builder>
void add_kinds(Configuration& configuration, const std::string& group, const char* setting,
               const char* help, std::string& choice,
               const std::map<std::string, std::unique_ptr<Builder>>& builders) {
  std::vector<std::string> names;
  for (const auto& [name, builder] : builders) names.push_back(name);
  configuration.add(group, {field(setting, choice, help, names)});
  for (const auto& [name, builder] : builders) configuration.add(group, builder->fields());
}

/// The settings that are given although only builders have them that are not chosen, each with
/// those: "momentum (of sgd), ..."; empty where there is none. Those given their defaults do not
/// count: a run's config.ini holds all.
template <typename Builder>
std::string idle_text(const Configuration& configuration, const std::string& choice,
                      const std::map<std::string, std::unique_ptr<Builder>>& builders) {
  std::set<std::string> used;
  for (const Field& field : builders.at(choice)->fields()) used.insert(field.name());
  std::map<std::string, std::vector<std::string>> owners;
  for (const auto& [name, builder] : builders) {
    for (const Field& field : builder->fields()) {
      if (used.contains(field.name()) || configuration.has_default(field.name())) continue;
      owners[field.name()].push_back(name);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [setting, names] : owners) {
    texts.push_back(setting + " (of " + joined(names, " or ") + ")");
  }
  return joined(texts, ", ");
}

template <typename Builder>
void add_idle(std::vector<std::string>& texts, const Configuration& configuration, const char* kind,
              const std::string& choice,
              const std::map<std::string, std::unique_ptr<Builder>>& builders) {
  const std::string idle = idle_text(configuration, choice, builders);
  if (idle.empty()) return;
  texts.push_back("without effect, since " + std::string(kind) + " is " + choice + ": " + idle);
}

}  // namespace

RunSettings::RunSettings(const Components& components)
    : datasets_(build_all(components.datasets)),
      models_(build_all(components.models)),
      optimizers_(build_all(components.optimizers)),
      schedules_(build_all(components.schedules)) {
  configuration_.add("Run", run_fields(train));
  configuration_.add("Training", training_fields(train));
  configuration_.add("Training", fields(scaler));
  configuration_.add("Training", fields(batch));
  add_kinds(configuration_, "Data", "dataset", "kind of data set", dataset_, datasets_);
  configuration_.add("Data", fields(transform));
  add_kinds(configuration_, "Model", "model", "network to train", model_, models_);
  add_kinds(configuration_, "Optimizer", "optimizer", "update rule", optimizer_, optimizers_);
  add_kinds(configuration_, "Learning rate", "schedule", "learning rate over the run", schedule_,
            schedules_);
  configuration_.add_check([this]() -> std::vector<std::string> {
    if (!train.overwrite || train.resume_from != "auto") return {};
    return {
        "overwrite and resume_from = auto contradict each other: one removes what the other "
        "goes on with"};
  });
  configuration_.add_check([this]() -> std::vector<std::string> {
    if (train.keep_best == "none" || train.eval_every > 0) return {};
    return {"keep_best = " + train.keep_best + " needs validations, but eval_every is 0"};
  });
  configuration_.add("Machine", machine_fields(train));
  configuration_.add("Machine", fields(loader));
  configuration_.add("Machine", fields(reducer));
  configuration_.add("Faults on purpose (for tests)", fault_fields(train));
  configuration_.add_check([this]() -> std::vector<std::string> {
    try {
      const FaultInjector tried(train.fault, /*rank=*/0);
    } catch (const UsageError& error) {
      return {error.attempted() + ": " + error.reason()};
    }
    return {};
  });
}

void RunSettings::check_training() const {
  std::vector<std::string> problems = optimizer().problems();
  for (std::string& problem : schedule().problems(train.epochs)) {
    problems.push_back(std::move(problem));
  }
  for (std::string& problem : lockstep::problems(precision_request(train))) {
    problems.push_back(std::move(problem));
  }
  // Whoever names data wants no other.
  const std::string idle = idle_text(configuration_, dataset_, datasets_);
  if (!idle.empty() && configuration_.origin("dataset") == "default") {
    problems.push_back("dataset is not set and so " + dataset_ + ", but these are: " + idle);
  }
  throw_problems("train with these settings", problems);
}

std::vector<std::string> RunSettings::idle_settings() const {
  std::vector<std::string> texts;
  add_idle(texts, configuration_, "dataset", dataset_, datasets_);
  add_idle(texts, configuration_, "model", model_, models_);
  add_idle(texts, configuration_, "optimizer", optimizer_, optimizers_);
  add_idle(texts, configuration_, "schedule", schedule_, schedules_);
  return texts;
}

ReplicaOptions RunSettings::replica_options(const Precision& precision) const {
  ReplicaOptions options{.loss_scaling = {}, .ema_decay = train.ema_decay};
  if (precision.scales_losses()) options.loss_scaling = scaler;
  return options;
}

bool may_change_on_resume(const std::string& name) {
  return setting_names::contains(setting_names::free_on_resume, name);
}

}  // namespace lockstep
