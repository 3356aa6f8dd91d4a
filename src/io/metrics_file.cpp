#include "lockstep/io/metrics_file.hpp"

namespace lockstep {
namespace {

constexpr const char* confusion_path = "/validation/confusion";

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
          integers("world_size", "ranks"),
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

void add_arrays(std::vector<ArrayView>& arrays, const std::vector<MetricsColumn>& columns,
                const std::string& group, const std::vector<std::int64_t>& shape) {
  for (const MetricsColumn& column : columns) {
    arrays.push_back({.path = group + "/" + column.name,
                      .dtype = column.dtype(),
                      .shape = shape,
                      .data = data_of(column),
                      .placement = Placement::from_root,
                      .units = column.units});
  }
}

/// The shape of `group`'s data sets, which all have that of the first; empty where there is none,
/// which read() is to report.
std::vector<std::int64_t> shape_in(const ArrayFileReader& file, const std::string& group,
                                   const std::vector<MetricsColumn>& columns,
                                   std::size_t dimensions) {
  const ArrayInfo* info = file.find(group + "/" + columns.front().name);
  if (info != nullptr && info->shape.size() == dimensions) return info->shape;
  return std::vector<std::int64_t>(dimensions, 0);
}

std::vector<MetricsColumn> read_columns(ArrayFileReader& file, std::vector<MetricsColumn> columns,
                                        const std::string& group,
                                        const std::vector<std::int64_t>& shape) {
  for (MetricsColumn& column : columns) {
    file.read({.path = group + "/" + column.name,
               .dtype = column.dtype(),
               .shape = shape,
               .data = resized(column, element_count(shape)),
               .placement = Placement::from_root});
  }
  return columns;
}

void read_table(ArrayFileReader& file, MetricsTable& table, const std::string& group) {
  table.assign(read_columns(file, table.columns(), group,
                            shape_in(file, group, table.columns(), /*dimensions=*/1)));
}

void read_table(ArrayFileReader& file, RankTable& table, const std::string& group) {
  const std::vector<std::int64_t> shape = shape_in(file, group, table.columns(), /*dimensions=*/2);
  table.assign(read_columns(file, table.columns(), group, shape), shape.at(1));
}

ConfusionMatrix read_confusion(ArrayFileReader& file, const std::string& path) {
  const ArrayInfo* info = file.find(path);
  // A missing matrix is read() to report.
  ConfusionMatrix confusion(info == nullptr || info->shape.empty() ? 0 : info->shape[0]);
  file.read({.path = path,
             .dtype = DType::int64,
             .shape = {confusion.classes, confusion.classes},
             .data = confusion.counts.data(),
             .placement = Placement::from_root});
  return confusion;
}

}  // namespace

MetricsHistory::MetricsHistory()
    : epoch(epoch_columns()), rank(rank_columns()), step(step_columns()) {}

std::vector<ArrayView> arrays_of(const MetricsHistory& history, std::string_view prefix) {
  const std::string start(prefix);
  std::vector<ArrayView> arrays;
  add_arrays(arrays, history.epoch.columns(), start + "/epoch", {history.epoch.rows()});
  add_arrays(arrays, history.rank.columns(), start + "/rank",
             {history.rank.rows(), history.rank.ranks()});
  add_arrays(arrays, history.step.columns(), start + "/step", {history.step.rows()});
  arrays.push_back({.path = start + confusion_path,
                    .dtype = DType::int64,
                    .shape = {history.confusion.classes, history.confusion.classes},
                    .data = history.confusion.counts.data(),
                    .placement = Placement::from_root,
                    .units = "samples"});
  return arrays;
}

MetricsHistory read_history(ArrayFileReader& file, std::string_view prefix) {
  const std::string start(prefix);
  MetricsHistory history;
  read_table(file, history.epoch, start + "/epoch");
  read_table(file, history.rank, start + "/rank");
  read_table(file, history.step, start + "/step");
  history.confusion = read_confusion(file, start + confusion_path);
  return history;
}

FileFormat metrics_format() {
  return {.name = "lockstep.metrics", .version = 1};
}

WriteReport write_metrics(const std::filesystem::path& path, const MetricsHistory& history,
                          const std::vector<SettingsGroup>& groups, Communicator& comm) {
  const Content content{.arrays = arrays_of(history, ""), .attributes = {}, .groups = groups};
  return write_array_file(path, metrics_format(), content, comm);
}

MetricsHistory read_metrics(const std::filesystem::path& path, Communicator& comm) {
  ArrayFileReader file(path, metrics_format(), comm);
  return read_history(file, "");
}

}  // namespace lockstep
