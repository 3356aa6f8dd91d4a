// Writes files for Python to check:
//   io_write_files sample DIRECTORY    a checkpoint and metrics with known content
//   io_write_files endless DIRECTORY   checkpoints and metrics until it is killed; rank 0 says "N"
//                                      when those of step N are written
//   io_write_files some DIRECTORY      checkpoints of steps 1 to 4, of which two are kept; rank 0
//   says
//                                      "N" when that of step N is written and older ones are
//                                      removed
//   io_write_files newest DIRECTORY    says the newest valid checkpoint's step, and fails where it
//                                      holds other weights than those of that step
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_session.hpp"
#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/checkpoint_store.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/io/metrics_file.hpp"

namespace lockstep {
namespace {

const std::vector<SettingsGroup> groups = {
    {"/config", {{"batch_size", "128"}, {"name", "Zürich"}, {"resume_from", ""}}},
    {"/provenance", {{"commit", "0123abc"}}}};

void append_epoch(MetricsHistory& history, std::int64_t epoch, int rank, int ranks) {
  const double nan = std::nan("");
  history.epoch.append({{"epoch", epoch},
                        {"global_step", 10 * (epoch + 1)},
                        {"samples_seen", 100 * (epoch + 1)},
                        {"world_size", 2},
                        {"lr", 0.5},
                        {"train_loss_sum", 50.0},
                        {"train_loss", 0.5},
                        {"train_accuracy", 0.75},
                        {"train_correct", 75},
                        {"train_top5_accuracy", 1.0},
                        {"train_top5_correct", 100},
                        {"train_nonfinite", 0},
                        {"train_samples", 100},
                        {"val_loss_sum", nan},
                        {"val_loss", nan},
                        {"val_accuracy", nan},
                        {"val_correct", 0},
                        {"val_top5_accuracy", nan},
                        {"val_top5_correct", 0},
                        {"val_nonfinite", 0},
                        {"val_samples", 0},
                        {"skipped_steps", 0},
                        {"epoch_seconds", 1.0 + rank},
                        {"train_seconds", 1.0},
                        {"val_seconds", 0.0},
                        {"images_per_second", 100.0}});
  std::vector<MetricsRow> rows;
  for (int r = 0; r < ranks; ++r) {
    rows.push_back({{"train_samples", 1000 * r + epoch},
                    {"train_seconds", 1.0},
                    {"comm_wait_seconds", 0.125},
                    {"compute_seconds", 0.25},
                    {"data_wait_seconds", 0.25},
                    {"peak_rss_bytes", 4096}});
  }
  history.rank.append(rows);
  history.step.append({{"global_step", 10 * (epoch + 1)},
                       {"epoch", epoch},
                       {"log_points", 1},
                       {"grad_norm", 2.0},
                       {"loss_scale", 1.0},
                       {"skipped_steps", 0},
                       {"nonfinite", 0},
                       {"samples", 100},
                       {"loss_sum", 50.0},
                       {"loss", 0.5},
                       {"lr", 0.5},
                       {"images_per_second", 100.0},
                       {"interval_seconds", 1.0},
                       {"elapsed_seconds", 1.0 + static_cast<double>(rank)}});
}

void write_sample(const std::filesystem::path& directory, Communicator& comm) {
  std::vector<float> weight(64 * 3 * 5);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i) / 8;
  const std::vector<double> bias = {0.5, -1.5};
  const std::vector<std::uint16_t> half = {0x3c00, 0xc000};    // 1, -2
  const std::vector<std::uint16_t> bfloat = {0x3f80, 0xc000};  // 1, -2
  const std::vector<std::int32_t> integers = {-1, 7};
  const std::int64_t batches = 42;
  const std::vector<std::uint8_t> state(16, static_cast<std::uint8_t>(comm.rank() + 1));
  MetricsHistory history;
  append_epoch(history, 0, comm.rank(), comm.size());
  append_epoch(history, 1, comm.rank(), comm.size());
  history.confusion = ConfusionMatrix(2);
  history.confusion.counts = {5, 1, 2, 4 + comm.rank()};  // rank 0's count

  Content content{
      .arrays = {{"/model/stem.weight", DType::float32, {64, 3, 5, 1}, weight.data()},
                 {"/model/fc.bias", DType::float64, {2}, bias.data()},
                 {"/model/half", DType::float16, {2}, half.data()},
                 {"/model/bfloat", DType::bfloat16, {2}, bfloat.data()},
                 {"/model/integers", DType::int32, {1, 2}, integers.data()},
                 {"/model/bn.num_batches_tracked", DType::int64, {}, &batches},
                 {"/model/empty", DType::float32, {0, 3}, nullptr},
                 {"/rng/cpu", DType::uint8, {comm.size(), 16}, state.data(), Placement::per_rank}},
      .attributes = {{"step", std::int64_t{20}}, {"lr", 0.125}},
      .groups = groups};
  for (const ArrayView& array : arrays_of(history, "/metrics")) {
    content.arrays.push_back(array);
  }
  write_checkpoint(CheckpointStore(directory).path(20), content, comm);
  write_metrics(directory / "metrics.h5", history, groups, comm);
}

[[noreturn]] void write_endlessly(const std::filesystem::path& directory, Communicator& comm) {
  const CheckpointStore store(directory);
  MetricsHistory history;
  std::vector<float> weight(1 << 21);
  for (std::int64_t step = 1;; ++step) {
    for (float& value : weight) value = static_cast<float>(step);
    const Content content{.arrays = {{"/model/w", DType::float32, {1 << 21}, weight.data()}},
                          .attributes = {},
                          .groups = groups};
    append_epoch(history, step - 1, comm.rank(), comm.size());
    write_checkpoint(store.path(step), content, comm);
    write_metrics(directory / "metrics.h5", history, groups, comm);
    store.prune(step, {.last = 2}, comm);
    if (comm.rank() == 0) {
      std::printf("%lld\n", static_cast<long long>(step));
      std::fflush(stdout);
    }
  }
}

void write_some(const std::filesystem::path& directory, Communicator& comm) {
  const CheckpointStore store(directory);
  store.prepare(comm);
  std::vector<float> weight(1 << 18);
  for (std::int64_t step = 1; step <= 4; ++step) {
    for (float& value : weight) value = static_cast<float>(step);
    const Content content{.arrays = {{"/model/w", DType::float32, {1 << 18}, weight.data()},
                                     {"/sampler/global_step", DType::int64, {}, &step}},
                          .attributes = {},
                          .groups = groups};
    write_checkpoint(store.path(step), content, comm);
    store.prune(step, {.last = 2}, comm);
    if (comm.rank() == 0) {
      std::printf("%lld\n", static_cast<long long>(step));
      std::fflush(stdout);
    }
  }
}

void check_weights(const NewestCheckpoint& newest) {
  const std::vector<std::byte> bytes = newest.reader->read("/model/w");
  std::vector<float> weights(bytes.size() / sizeof(float));
  std::memcpy(weights.data(), bytes.data(), bytes.size());
  for (const float weight : weights) {
    check(weight == static_cast<float>(newest.entry->step), "read a checkpoint's weights",
          "they are not those of its step");
  }
}

void print_newest(const std::filesystem::path& directory, Communicator& comm) {
  const CheckpointStore store(directory);
  store.prepare(comm);
  const NewestCheckpoint newest = store.newest_valid(comm);
  if (newest.entry) check_weights(newest);
  if (comm.rank() == 0) {
    std::printf("%lld\n", static_cast<long long>(newest.entry ? newest.entry->step : -1));
  }
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  using namespace lockstep;
  MpiSession session(argc, argv);
  const std::string mode = argc > 2 ? argv[1] : "";
  const std::filesystem::path directory = argc > 2 ? argv[2] : "";
  int exit_code = EXIT_SUCCESS;
  try {
    const auto comm = session.world().duplicate("files");
    IoThread io;
    io.run([&] {
      if (mode == "sample") write_sample(directory, *comm);
      if (mode == "endless") write_endlessly(directory, *comm);
      if (mode == "some") write_some(directory, *comm);
      if (mode == "newest") print_newest(directory, *comm);
    });
  } catch (const AgreedError& error) {
    if (session.rank() == 0) std::fprintf(stderr, "lockstep: %s\n", error.what());
    exit_code = EXIT_FAILURE;
  }
  session.finish();
  return exit_code;
}
