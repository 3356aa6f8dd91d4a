#include "lockstep/io/metrics_file.hpp"

namespace lockstep {
namespace {

MetricsColumn integers(std::string name, std::string units) {
  return {
      .name = std::move(name), .units = std::move(units), .values = std::vector<std::int64_t>()};
}

MetricsColumn reals(std::string name, std::string units) {
  return {.name = std::move(name), .units = std::move(units), .values = std::vector<double>()};
}

std::vector<MetricsColumn> epoch_columns() {
  return {integers("epoch", "epochs"),
          integers("global_step", "optimizer steps"),
          integers("samples_seen", "samples"),
          reals("lr", "1"),
          reals("train_loss_sum", "nats"),
          reals("train_loss", "nats per sample"),
          reals("train_accuracy", "1"),
          integers("train_correct", "samples"),
          reals("train_top5_accuracy", "1"),
          integers("train_top5_correct", "samples"),
          integers("train_nonfinite", "samples"),
          integers("train_samples", "samples"),
          reals("val_loss_sum", "nats"),
          reals("val_loss", "nats per sample"),
          reals("val_accuracy", "1"),
          integers("val_correct", "samples"),
          reals("val_top5_accuracy", "1"),
          integers("val_top5_correct", "samples"),
          integers("val_nonfinite", "samples"),
          integers("val_samples", "samples"),
          integers("skipped_steps", "optimizer steps"),
          reals("epoch_seconds", "s"),
          reals("train_seconds", "s"),
          reals("val_seconds", "s"),
          reals("images_per_second", "1/s")};
}

std::vector<MetricsColumn> rank_columns() {
  return {integers("train_samples", "samples"), reals("train_seconds", "s"),
          reals("data_wait_seconds", "s"),      reals("comm_wait_seconds", "s"),
          reals("compute_seconds", "s"),        integers("peak_rss_bytes", "bytes")};
}

std::vector<MetricsColumn> step_columns() {
  return {integers("global_step", "optimizer steps"),
          integers("epoch", "epochs"),
          integers("log_points", "log points"),
          integers("samples", "samples"),
          integers("nonfinite", "samples"),
          reals("loss_sum", "nats"),
          reals("loss", "nats per sample"),
          reals("lr", "1"),
          reals("grad_norm", "1"),
          reals("loss_scale", "1"),
          integers("skipped_steps", "optimizer steps"),
          reals("images_per_second", "1/s"),
          reals("interval_seconds", "s"),
          reals("elapsed_seconds", "s")};
}

const void* data_of(const MetricsColumn& column) {
  return std::visit([](const auto& values) -> const void* { return values.data(); }, column.values);
}

void* resized(MetricsColumn& column, std::int64_t rows) {
  return std::visit(
      [&](auto& values) -> void* {
        values.resize(static_cast<std::size_t>(rows));
        return values.data();
      },
      column.values);
}

std::vector<std::int64_t> shape_of(std::int64_t rows, Placement placement, int world_size) {
  if (placement == Placement::per_rank_column) return {rows, world_size};
  return {rows};
}

void add_arrays(std::vector<ArrayView>& arrays, const MetricsTable& table, const std::string& group,
                Placement placement, int world_size) {
  for (const MetricsColumn& column : table.columns()) {
    arrays.push_back({.path = group + "/" + column.name,
                      .dtype = column.dtype(),
                      .shape = shape_of(table.rows(), placement, world_size),
                      .data = data_of(column),
                      .placement = placement,
                      .units = column.units});
  }
}

void read_table(ArrayFileReader& file, MetricsTable& table, const std::string& group,
                Placement placement, Communicator& comm) {
  std::vector<MetricsColumn> columns = table.columns();
  for (MetricsColumn& column : columns) {
    const std::string path = group + "/" + column.name;
    const ArrayInfo* info = file.find(path);
    // A missing quantity is read() to report.
    const std::int64_t rows = info == nullptr || info->shape.empty() ? 0 : info->shape[0];
    file.read({.path = path,
               .dtype = column.dtype(),
               .shape = shape_of(rows, placement, comm.size()),
               .data = resized(column, rows),
               .placement = placement});
  }
  table.assign(std::move(columns));
}

}  // namespace

MetricsHistory::MetricsHistory()
    : epoch(epoch_columns()), rank(rank_columns()), step(step_columns()) {}

std::vector<ArrayView> arrays_of(const MetricsHistory& history, std::string_view prefix,
                                 int world_size) {
  const std::string start(prefix);
  std::vector<ArrayView> arrays;
  add_arrays(arrays, history.epoch, start + "/epoch", Placement::from_root, world_size);
  add_arrays(arrays, history.rank, start + "/rank", Placement::per_rank_column, world_size);
  add_arrays(arrays, history.step, start + "/step", Placement::from_root, world_size);
  return arrays;
}

MetricsHistory read_history(ArrayFileReader& file, std::string_view prefix, Communicator& comm) {
  const std::string start(prefix);
  MetricsHistory history;
  read_table(file, history.epoch, start + "/epoch", Placement::from_root, comm);
  read_table(file, history.rank, start + "/rank", Placement::per_rank_column, comm);
  read_table(file, history.step, start + "/step", Placement::from_root, comm);
  return history;
}

FileFormat metrics_format() {
  return {.name = "lockstep.metrics", .version = 1};
}

WriteReport write_metrics(const std::filesystem::path& path, const MetricsHistory& history,
                          const std::vector<SettingsGroup>& groups, Communicator& comm) {
  const Content content{
      .arrays = arrays_of(history, "", comm.size()), .attributes = {}, .groups = groups};
  return write_array_file(path, metrics_format(), content, comm);
}

MetricsHistory read_metrics(const std::filesystem::path& path, Communicator& comm) {
  ArrayFileReader file(path, metrics_format(), comm);
  return read_history(file, "", comm);
}

}  // namespace lockstep
