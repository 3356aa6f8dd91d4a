#include "lockstep/app/components.hpp"
#include "lockstep/data/cifar10.hpp"
#include "lockstep/data/hdf5_dataset.hpp"
#include "lockstep/data/synthetic.hpp"
#include "lockstep/model/mini_resnet.hpp"
#include "lockstep/optim/adamw.hpp"
#include "lockstep/optim/constant_schedule.hpp"
#include "lockstep/optim/cosine_schedule.hpp"
#include "lockstep/optim/polynomial_schedule.hpp"
#include "lockstep/optim/sgd.hpp"
#include "lockstep/optim/step_schedule.hpp"

namespace lockstep {
namespace {

template <typename Builder, typename Interface>
void add(Registry<std::unique_ptr<Interface>()>& registry, const char* name) {
  registry.add(name, [] { return std::make_unique<Builder>(); });
}

}  // namespace

void register_builtins(Components& components) {
  add<Cifar10Builder>(components.datasets, "cifar10");
  add<Hdf5Builder>(components.datasets, "hdf5");
  add<SyntheticBuilder>(components.datasets, "synthetic");

  add<MiniResNetBuilder>(components.models, "mini_resnet");

  add<AdamWBuilder>(components.optimizers, "adamw");
  add<SgdBuilder>(components.optimizers, "sgd");

  add<ConstantScheduleBuilder>(components.schedules, "constant");
  add<CosineScheduleBuilder>(components.schedules, "cosine");
  add<PolynomialScheduleBuilder>(components.schedules, "polynomial");
  add<StepScheduleBuilder>(components.schedules, "step");
}

Components builtin_components() {
  Components components;
  register_builtins(components);
  return components;
}

}  // namespace lockstep
