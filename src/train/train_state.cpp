#include "lockstep/train/train_state.hpp"

#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "lockstep/base/philox.hpp"
#include "lockstep/model/dtype.hpp"
#include "lockstep/model/named_tensor.hpp"

namespace lockstep {
namespace {

constexpr const char* generator_path = "/rng/cpu";
constexpr const char* model_group = "/model/";
constexpr const char* average_group = "/ema/";

// A scalar of the loop's state and where files keep it. One table serves both directions.
struct ScalarField {
  const char* path;
  DType dtype;
  const char* units;
  Placement placement;
  void* value;
};

// What optimizer and scaler carry in plain numbers.
struct StepCounters {
  std::int64_t applied_steps = 0;
  std::optional<GradScalerState> scaler;  // where losses are scaled
};

StepCounters counters_of(Replica& replica) {
  StepCounters counters{.applied_steps = replica.optimizer().applied_steps(), .scaler = {}};
  if (replica.scaler() != nullptr) counters.scaler = replica.scaler()->state();
  return counters;
}

std::vector<ScalarField> scalar_fields(LoopState& loop, StepCounters& counters) {
  const auto shared = [](const char* path, const char* units, std::int64_t& value) {
    return ScalarField{path, DType::int64, units, Placement::replicated, &value};
  };
  const auto own = [](const char* path, const char* units, std::int64_t& value) {
    return ScalarField{path, DType::int64, units, Placement::per_rank, &value};
  };
  const auto own_real = [](const char* path, const char* units, double& value) {
    return ScalarField{path, DType::float64, units, Placement::per_rank, &value};
  };
  std::vector<ScalarField> fields{
      shared("/sampler/epoch", "epochs", loop.position.epoch),
      shared("/sampler/offset", "samples", loop.position.offset),
      shared("/sampler/consumed_samples", "samples", loop.position.consumed_samples),
      shared("/sampler/global_step", "steps", loop.position.global_step),
      shared("/schedule/horizon_epochs", "epochs", loop.horizon.epochs),
      shared("/schedule/horizon_samples", "samples", loop.horizon.samples),
      {"/schedule/learning_rate", DType::float64, "1", Placement::replicated, &loop.learning_rate},
      own_real("/meters/train_seconds", "s", loop.train_seconds),
      own_real("/meters/data_wait_seconds", "s", loop.data_wait_seconds),
      own_real("/meters/comm_wait_seconds", "s", loop.comm_wait_seconds),
      own_real("/meters/interval_seconds", "s", loop.interval_seconds),
      shared("/optimizer/applied_steps", "steps", counters.applied_steps),
      shared("/optimizer/skipped_steps", "steps", loop.skipped_steps),
      shared("/optimizer/skipped_in_row", "steps", loop.skipped_in_row),
      own_real("/meters/epoch_loss_sum", "nats", loop.epoch_tally.loss_sum),
      own("/meters/epoch_correct", "samples", loop.epoch_tally.correct),
      own("/meters/epoch_correct_top5", "samples", loop.epoch_tally.correct_top5),
      own("/meters/epoch_nonfinite", "samples", loop.epoch_tally.nonfinite),
      own("/meters/epoch_samples", "samples", loop.epoch_tally.samples),
      own_real("/meters/interval_loss_sum", "nats", loop.interval_tally.loss_sum),
      own("/meters/interval_correct", "samples", loop.interval_tally.correct),
      own("/meters/interval_correct_top5", "samples", loop.interval_tally.correct_top5),
      own("/meters/interval_nonfinite", "samples", loop.interval_tally.nonfinite),
      own("/meters/interval_samples", "samples", loop.interval_tally.samples),
  };
  if (counters.scaler) {
    fields.push_back(
        {"/scaler/scale", DType::float64, "1", Placement::replicated, &counters.scaler->scale});
    fields.push_back(shared("/scaler/growth_tracker", "steps", counters.scaler->growth_tracker));
  }
  return fields;
}

std::vector<std::int64_t> scalar_shape(const ScalarField& scalar, int world_size) {
  if (scalar.placement == Placement::replicated) return {};
  return {world_size};
}

// Parameters and buffers under paths that begin with `group`.
std::vector<NamedTensor> tensors_in(const char* group, std::vector<NamedTensor> parameters,
                                    const Model& model) {
  for (NamedTensor& buffer : model.buffers()) parameters.push_back(std::move(buffer));
  for (NamedTensor& tensor : parameters) tensor.name = group + tensor.name;
  return parameters;
}

// Every tensor of the replica under its path in files. They share memory with the replica.
std::vector<NamedTensor> replica_tensors_by_path(Replica& replica) {
  std::vector<NamedTensor> tensors =
      tensors_in(model_group, replica.model().parameters(), replica.model());
  for (const OptimizerState& state : replica.optimizer().state()) {
    for (NamedTensor& view : replica.parameters().layout().views(state.flat)) {
      tensors.push_back({"/optimizer/" + state.kind + "/" + view.name, view.tensor});
    }
  }
  if (const WeightAverage* average = replica.average()) {
    // Averaged weights go with the model's own buffers, repeated to make a whole network.
    for (NamedTensor& tensor :
         tensors_in(average_group, replica.parameters().layout().views(average->values()),
                    replica.model())) {
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

at::Tensor generator_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

void restore_generator(const at::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state);
}

ArrayTarget target_of(const std::string& path, const at::Tensor& memory) {
  return {.path = path,
          .dtype = dtype_of(memory.scalar_type()),
          .shape = memory.sizes().vec(),
          .data = memory.data_ptr()};
}

void restore_tensors(ArrayFileReader& reader, IoThread& io,
                     const std::vector<NamedTensor>& tensors) {
  const at::NoGradGuard no_gradients;
  for (const NamedTensor& named : tensors) {
    // Files hold row-major elements; the live tensor may lie channels-last.
    const at::Tensor row_major = at::empty(named.tensor.sizes(), named.tensor.scalar_type());
    io.run([&] { reader.read(target_of(named.name, row_major)); });
    named.tensor.detach().copy_(row_major);
  }
}

}  // namespace

struct StateSnapshot::Storage {
  LoopState loop;
  StepCounters counters;
  MetricsHistory history;
  std::deque<at::Tensor> tensors;
  std::vector<ArrayView> arrays;
};

StateSnapshot::StateSnapshot(Replica& replica, const LoopState& loop, const MetricsHistory& history,
                             int world_size)
    : storage_(new Storage{.loop = loop,
                           .counters = counters_of(replica),
                           .history = history,
                           .tensors = {},
                           .arrays = {}}) {
  Storage& storage = *storage_;
  for (const NamedTensor& named : replica_tensors_by_path(replica)) {
    const at::Tensor& copy =
        storage.tensors.emplace_back(named.tensor.detach().clone(at::MemoryFormat::Contiguous));
    storage.arrays.push_back({.path = named.name,
                              .dtype = dtype_of(copy.scalar_type()),
                              .shape = copy.sizes().vec(),
                              .data = copy.const_data_ptr()});
  }
  for (const ScalarField& scalar : scalar_fields(storage.loop, storage.counters)) {
    storage.arrays.push_back({.path = scalar.path,
                              .dtype = scalar.dtype,
                              .shape = scalar_shape(scalar, world_size),
                              .data = scalar.value,
                              .placement = scalar.placement,
                              .units = scalar.units});
  }
  const at::Tensor& generator = storage.tensors.emplace_back(generator_state());
  storage.arrays.push_back({.path = generator_path,
                            .dtype = DType::uint8,
                            .shape = {world_size, generator.numel()},
                            .data = generator.const_data_ptr(),
                            .placement = Placement::per_rank});
  for (ArrayView& array : arrays_of(storage.history, "/metrics", world_size)) {
    storage.arrays.push_back(std::move(array));
  }
}

StateSnapshot::~StateSnapshot() = default;

const std::vector<ArrayView>& StateSnapshot::arrays() const {
  return storage_->arrays;
}

Position read_position(ArrayFileReader& reader, IoThread& io) {
  LoopState loop;
  StepCounters counters;
  for (const ScalarField& scalar : scalar_fields(loop, counters)) {
    if (scalar.placement != Placement::replicated) continue;
    io.run([&] {
      reader.read({.path = scalar.path, .dtype = scalar.dtype, .shape = {}, .data = scalar.value});
    });
  }
  return loop.position;
}

void restore_model(ArrayFileReader& reader, IoThread& io, Model& model, bool averaged) {
  restore_tensors(reader, io,
                  tensors_in(averaged ? average_group : model_group, model.parameters(), model));
}

void restore_state(ArrayFileReader& reader, IoThread& io, Communicator& io_comm, Replica& replica,
                   LoopState& loop, MetricsHistory& history) {
  restore_tensors(reader, io, replica_tensors_by_path(replica));
  StepCounters counters = counters_of(replica);
  for (const ScalarField& scalar : scalar_fields(loop, counters)) {
    io.run([&] {
      reader.read({.path = scalar.path,
                   .dtype = scalar.dtype,
                   .shape = scalar_shape(scalar, io_comm.size()),
                   .data = scalar.value,
                   .placement = scalar.placement});
    });
  }
  replica.optimizer().restore_applied_steps(counters.applied_steps);
  if (counters.scaler) replica.scaler()->restore(*counters.scaler);

  const at::Tensor generator = generator_state();
  io.run([&] {
    ArrayTarget target = target_of(generator_path, generator);
    target.shape = {io_comm.size(), generator.numel()};
    target.placement = Placement::per_rank;
    reader.read(target);
    history = read_history(reader, "/metrics", io_comm);
  });
  restore_generator(generator);
}

void seed_generator(std::uint64_t seed, int rank) {
  PhiloxStream stream(seed, static_cast<std::uint64_t>(rank), /*stream=*/0x726E6700);
  const std::uint64_t high = stream.next_uint32();
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::scoped_lock lock(generator.mutex());
  generator.set_current_seed(high << 32U | stream.next_uint32());
}

}  // namespace lockstep
