#include "lockstep/train/train_state.hpp"

#include <cstring>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/philox.hpp"
#include "lockstep/model/dtype.hpp"
#include "lockstep/model/named_tensor.hpp"

namespace lockstep {
namespace {

constexpr const char* generator_path = "/rng/cpu";
constexpr const char* device_generator_path = "/rng/device";
constexpr const char* model_group = "/model/";
constexpr const char* average_group = "/ema/";

// A scalar of the loop's state and where files keep it. One table serves both directions.
struct ScalarField {
  const char* path;
  DType dtype;
  const char* units;
  Placement placement;
  void* value;
  bool summed = false;  // of one a rank: whether the ranks' values add up to something
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
    return ScalarField{path, DType::int64, units, Placement::per_rank, &value, /*summed=*/true};
  };
  const auto own_sum = [](const char* path, double& value) {
    return ScalarField{path, DType::float64, "nats", Placement::per_rank, &value, /*summed=*/true};
  };
  const auto own_seconds = [](const char* path, double& value) {
    return ScalarField{path, DType::float64, "s", Placement::per_rank, &value};
  };
  std::vector<ScalarField> fields{
      shared("/sampler/epoch", "epochs", loop.position.epoch),
      shared("/sampler/offset", "samples", loop.position.offset),
      shared("/sampler/consumed_samples", "samples", loop.position.consumed_samples),
      shared("/sampler/global_step", "steps", loop.position.global_step),
      shared("/sampler/global_batch", "samples", loop.step_size.global_batch),
      shared("/sampler/largest_share", "samples", loop.step_size.largest_share),
      shared("/schedule/horizon_epochs", "epochs", loop.horizon.epochs),
      shared("/schedule/horizon_samples", "samples", loop.horizon.samples),
      {"/schedule/learning_rate", DType::float64, "1", Placement::replicated, &loop.learning_rate},
      own_seconds("/meters/epoch_seconds", loop.epoch.seconds),
      own_seconds("/meters/train_seconds", loop.epoch.train_seconds),
      own_seconds("/meters/data_wait_seconds", loop.epoch.data_wait_seconds),
      own_seconds("/meters/comm_wait_seconds", loop.epoch.comm_wait_seconds),
      own_seconds("/meters/interval_seconds", loop.interval_seconds),
      shared("/optimizer/applied_steps", "steps", counters.applied_steps),
      shared("/optimizer/skipped_steps", "steps", loop.skipped_steps),
      shared("/optimizer/skipped_in_row", "steps", loop.skipped_in_row),
      own_sum("/meters/epoch_loss_sum", loop.epoch.tally.loss_sum),
      own("/meters/epoch_correct", "samples", loop.epoch.tally.correct),
      own("/meters/epoch_correct_top5", "samples", loop.epoch.tally.correct_top5),
      own("/meters/epoch_nonfinite", "samples", loop.epoch.tally.nonfinite),
      own("/meters/epoch_samples", "samples", loop.epoch.tally.samples),
      own_sum("/meters/interval_loss_sum", loop.interval_tally.loss_sum),
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

/// The number of ranks that wrote a data set with one row a rank.
std::int64_t ranks_in(const ArrayFileReader& reader, const char* path) {
  const ArrayInfo* info = reader.find(path);
  return info == nullptr || info->shape.empty() ? 0 : info->shape.front();
}

/// This rank's part of what other ranks than these measured: of counts and sums, so that they add
/// up, all on rank 0 and nothing elsewhere; of times rank 0's everywhere.
template <typename T>
T redistributed(const std::vector<std::byte>& bytes, bool summed, int rank) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  if (!summed) return values.empty() ? T{} : values.front();
  return rank == 0 ? std::accumulate(values.begin(), values.end(), T{}) : T{};
}

void restore_scalar(ArrayFileReader& reader, const ScalarField& scalar, Communicator& comm) {
  const bool own = scalar.placement == Placement::per_rank;
  if (!own || ranks_in(reader, scalar.path) == comm.size()) {
    reader.read({.path = scalar.path,
                 .dtype = scalar.dtype,
                 .shape = scalar_shape(scalar, comm.size()),
                 .data = scalar.value,
                 .placement = scalar.placement});
    return;
  }
  const std::vector<std::byte> bytes = reader.read(scalar.path);
  if (scalar.dtype == DType::int64) {
    *static_cast<std::int64_t*>(scalar.value) =
        redistributed<std::int64_t>(bytes, scalar.summed, comm.rank());
  } else {
    *static_cast<double*>(scalar.value) = redistributed<double>(bytes, scalar.summed, comm.rank());
  }
}

/// Files hold row-major elements; the live tensor may lie channels-last, and on another device.
at::Tensor row_major_copy(const at::Tensor& live) {
  return at::empty(live.sizes(), live.scalar_type()).copy_(live.detach());
}

/// Which generators draw in a run whose model is on `device`, and where files keep their states.
std::vector<std::pair<const char*, at::Generator>> generators_for(at::Device device) {
  std::vector<std::pair<const char*, at::Generator>> generators{
      {generator_path, at::detail::getDefaultCPUGenerator()}};
  if (!device.is_cpu()) {
    generators.emplace_back(device_generator_path, at::globalContext().defaultGenerator(device));
  }
  return generators;
}

at::Tensor state_of(at::Generator generator) {
  const std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

/// A rank that the checkpoint knows gets its state back; others keep their own. Returns how many
/// ranks it knows.
std::int64_t restore_generator(ArrayFileReader& reader, const char* path, at::Generator generator,
                               int rank) {
  const at::Tensor state = state_of(generator);
  const std::int64_t ranks = ranks_in(reader, path);
  const std::vector<std::byte> states = reader.read(path);
  check(std::ssize(states) == ranks * state.numel(), "restore the state of random numbers",
        "that of this LibTorch has another size than the checkpoint's");
  if (rank >= ranks) return ranks;
  std::memcpy(state.data_ptr(), states.data() + rank * state.numel(),
              static_cast<std::size_t>(state.numel()));
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state);
  return ranks;
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
    const at::Tensor& copy = storage.tensors.emplace_back(row_major_copy(named.tensor));
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
  for (const auto& [path, generator] : generators_for(replica.device())) {
    const at::Tensor& state = storage.tensors.emplace_back(state_of(generator));
    storage.arrays.push_back({.path = path,
                              .dtype = DType::uint8,
                              .shape = {world_size, state.numel()},
                              .data = state.const_data_ptr(),
                              .placement = Placement::per_rank});
  }
  for (ArrayView& array : arrays_of(storage.history, "/metrics")) {
    storage.arrays.push_back(std::move(array));
  }
}

StateSnapshot::~StateSnapshot() = default;

const std::vector<ArrayView>& StateSnapshot::arrays() const {
  return storage_->arrays;
}

LoopState read_loop_state(ArrayFileReader& reader, IoThread& io) {
  LoopState loop;
  StepCounters counters;
  for (const ScalarField& scalar : scalar_fields(loop, counters)) {
    if (scalar.placement != Placement::replicated) continue;
    io.run([&] {
      reader.read({.path = scalar.path, .dtype = scalar.dtype, .shape = {}, .data = scalar.value});
    });
  }
  return loop;
}

std::string model_misfit(const ArrayFileReader& reader, const Model& model, bool averaged) {
  for (const NamedTensor& named :
       tensors_in(averaged ? average_group : model_group, model.parameters(), model)) {
    const ArrayTarget target = target_of(named.name, named.tensor);
    const ArrayInfo* found = reader.find(target.path);
    if (found != nullptr && fits(*found, target)) continue;
    return target.path + " is to be " + description_of(target.dtype, target.shape) + ", but " +
           (found == nullptr ? "is not there"
                             : "the file holds " + description_of(found->dtype, found->shape));
  }
  return {};
}

void restore_model(ArrayFileReader& reader, IoThread& io, Model& model, bool averaged) {
  restore_tensors(reader, io,
                  tensors_in(averaged ? average_group : model_group, model.parameters(), model));
}

std::int64_t restore_state(ArrayFileReader& reader, IoThread& io, Communicator& io_comm,
                           Replica& replica, LoopState& loop, MetricsHistory& history) {
  restore_tensors(reader, io, replica_tensors_by_path(replica));
  StepCounters counters = counters_of(replica);
  for (const ScalarField& scalar : scalar_fields(loop, counters)) {
    io.run([&] { restore_scalar(reader, scalar, io_comm); });
  }
  replica.optimizer().restore_applied_steps(counters.applied_steps);
  if (counters.scaler) replica.scaler()->restore(*counters.scaler);

  return io.run([&] {
    history = read_history(reader, "/metrics");
    std::int64_t known = 0;
    for (const auto& [path, generator] : generators_for(replica.device())) {
      // One from before the run moved to this kind of device has none of its states.
      if (reader.find(path) == nullptr) continue;
      const std::int64_t ranks = restore_generator(reader, path, generator, io_comm.rank());
      if (path == generator_path) known = ranks;
    }
    return known;
  });
}

void seed_generators(std::uint64_t seed, int rank, at::Device device) {
  PhiloxStream stream(seed, static_cast<std::uint64_t>(rank), /*stream=*/0x726E6700);
  for (auto& [path, generator] : generators_for(device)) {
    const std::uint64_t high = stream.next_uint32();
    const std::scoped_lock lock(generator.mutex());
    generator.set_current_seed(high << 32U | stream.next_uint32());
  }
}

}  // namespace lockstep
