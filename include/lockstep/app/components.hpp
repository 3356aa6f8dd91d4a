#pragma once

#include <memory>

#include "lockstep/base/registry.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/model/model.hpp"
#include "lockstep/optim/optimizer.hpp"
#include "lockstep/optim/schedule.hpp"

namespace lockstep {

/// The kinds of things a run is put together from, by name.
struct Components {
  Registry<std::unique_ptr<DatasetBuilder>()> datasets{"data set"};
  Registry<std::unique_ptr<ModelBuilder>()> models{"model"};
  Registry<std::unique_ptr<OptimizerBuilder>()> optimizers{"optimizer"};
  Registry<std::unique_ptr<ScheduleBuilder>()> schedules{"schedule"};
};

/// Adds all that come with Lockstep: the only place that names concrete kinds.
void register_builtins(Components& components);

/// What comes with Lockstep, and nothing else.
Components builtin_components();

}  // namespace lockstep
