// The whole program with one more kind of data set, "faulty": synthetic images, of which the one
// whose number is in the environment variable FAULTY_SAMPLE cannot be read. While sample
// FAULTY_INTERRUPT is read, or on rank FAULTY_INTERRUPTED_RANK before any is, somebody presses
// Ctrl-C.
#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "lockstep/app/components.hpp"
#include "lockstep/app/program.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/data/synthetic.hpp"
#include "lockstep/launch/environment.hpp"
#include "lockstep/model/mini_resnet.hpp"
#include "lockstep/optim/cosine_schedule.hpp"
#include "lockstep/optim/sgd.hpp"

namespace lockstep {
namespace {

std::int64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? -1 : std::stoll(text);
}

class FaultyDataset : public Dataset {
 public:
  explicit FaultyDataset(std::unique_ptr<Dataset> sound) : sound_(std::move(sound)) {}

  const std::string& name() const override { return name_; }
  std::int64_t size() const override { return sound_->size(); }
  ImageShape image_shape() const override { return sound_->image_shape(); }
  std::int64_t num_classes() const override { return sound_->num_classes(); }
  std::int64_t label(std::int64_t id) const override { return sound_->label(id); }
  std::int64_t read(std::int64_t id, std::span<float> image) const override {
    if (id == interrupt_) std::raise(SIGINT);
    if (id == faulty_) throw std::runtime_error("bad sector");
    return sound_->read(id, image);
  }

 private:
  std::string name_ = "/data/faulty.h5:/train";
  std::unique_ptr<Dataset> sound_;
  std::int64_t faulty_ = number_in("FAULTY_SAMPLE");
  std::int64_t interrupt_ = number_in("FAULTY_INTERRUPT");
};

class FaultyBuilder : public SyntheticBuilder {
 public:
  FieldTable fields() override {
    FieldTable table = SyntheticBuilder::fields();
    table.push_back(field("faulty_setting", setting_, "a setting that no other program has"));
    return table;
  }
  Splits build(IoThread& io, Communicator& comm, std::uint64_t seed) const override {
    Splits splits = SyntheticBuilder::build(io, comm, seed);
    splits.training = std::make_unique<FaultyDataset>(std::move(splits.training));
    splits.validation = std::make_unique<FaultyDataset>(std::move(splits.validation));
    if (comm.rank() == number_in("FAULTY_INTERRUPTED_RANK")) std::raise(SIGINT);
    return splits;
  }

 private:
  std::int64_t setting_ = 1;
};

}  // namespace

// Instead of app's own.
void register_builtins(Components& components) {
  components.datasets.add("faulty", [] { return std::make_unique<FaultyBuilder>(); });
  components.datasets.add("synthetic", [] { return std::make_unique<SyntheticBuilder>(); });
  components.models.add("mini_resnet", [] { return std::make_unique<MiniResNetBuilder>(); });
  components.optimizers.add("sgd", [] { return std::make_unique<SgdBuilder>(); });
  components.schedules.add("cosine", [] { return std::make_unique<CosineScheduleBuilder>(); });
}

Components builtin_components() {
  Components components;
  register_builtins(components);
  return components;
}

}  // namespace lockstep

int main(int argc, char** argv) {
  return lockstep::run_program(argc, argv, lockstep::environment_map());
}
