#include "lockstep/io/metrics_file.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "lockstep/io/checkpoint_file.hpp"

#include "unit/io/shared_directory.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MetricsFile : public SharedDirectoryTest {
 protected:
  std::filesystem::path path() const { return directory() / "metrics.h5"; }

  /// Rank 0's epochs take 1 s, the next rank's 2 s and so on.
  MetricsHistory history(std::int64_t epochs) const {
    MetricsHistory history;
    const double seconds = 1.0 + rank();
    for (std::int64_t e = 0; e < epochs; ++e) {
      const double nan = std::nan("");
      history.epoch.append({{"epoch", e},
                            {"global_step", 10 * (e + 1)},
                            {"samples_seen", 1000 * (e + 1)},
                            {"world_size", size()},
                            {"lr", 0.5},
                            {"train_loss_sum", 100.0},
                            {"train_loss", 0.1},
                            {"train_accuracy", 0.75},
                            {"train_correct", 750},
                            {"train_top5_accuracy", 1.0},
                            {"train_top5_correct", 1000},
                            {"train_nonfinite", 0},
                            {"train_samples", 1000},
                            {"val_loss_sum", nan},
                            {"val_loss", nan},
                            {"val_accuracy", nan},
                            {"val_correct", 0},
                            {"val_top5_accuracy", nan},
                            {"val_top5_correct", 0},
                            {"val_nonfinite", 0},
                            {"val_samples", 0},
                            {"skipped_steps", 0},
                            {"epoch_seconds", seconds},
                            {"train_seconds", seconds},
                            {"val_seconds", 0.0},
                            {"images_per_second", 1000.0 / seconds}});
      std::vector<MetricsRow> ranks;
      for (int r = 0; r < size(); ++r) {
        ranks.push_back({{"train_samples", 100 * r + e},
                         {"train_seconds", 1.0 + r},
                         {"comm_wait_seconds", 0.125},
                         {"compute_seconds", 0.25},
                         {"data_wait_seconds", 0.125},
                         {"peak_rss_bytes", 1 << 20}});
      }
      history.rank.append(ranks);
      history.step.append({{"global_step", 10 * (e + 1)},
                           {"epoch", e},
                           {"log_points", 1},
                           {"grad_norm", 2.0},
                           {"loss_scale", 1.0},
                           {"skipped_steps", 0},
                           {"nonfinite", 0},
                           {"samples", 1000},
                           {"loss_sum", 100.0},
                           {"loss", 0.1},
                           {"lr", 0.5},
                           {"images_per_second", 500.0},
                           {"interval_seconds", 2.0},
                           {"elapsed_seconds", seconds * static_cast<double>(e)}});
    }
    return history;
  }
};

TEST_F(MetricsFile, ComesBackWithAColumnARank) {
  write_metrics(path(), history(2), {}, comm());
  const MetricsHistory back = read_metrics(path(), comm());
  EXPECT_EQ(back.epoch.rows(), 2);
  EXPECT_THAT(back.epoch.integers("samples_seen"), ElementsAre(1000, 2000));
  EXPECT_THAT(back.step.integers("global_step"), ElementsAre(10, 20));
  EXPECT_TRUE(std::isnan(back.epoch.reals("val_loss")[1]));
  EXPECT_EQ(back.rank.ranks(), size());
  EXPECT_EQ(back.rank.columns(), history(2).rank.columns());
}

TEST_F(MetricsFile, ConfusionMatrixComesBackAndMayBeEmpty) {
  MetricsHistory written = history(1);
  write_metrics(path(), written, {}, comm());
  EXPECT_TRUE(read_metrics(path(), comm()).confusion.empty());
  written.confusion = ConfusionMatrix(2);
  written.confusion.at(1, 0) = 7;
  write_metrics(path(), written, {}, comm());
  const ConfusionMatrix back = read_metrics(path(), comm()).confusion;
  EXPECT_EQ(back.classes, 2);
  EXPECT_THAT(back.counts, ElementsAre(0, 0, 7, 0));
}

TEST_F(MetricsFile, WhatAllRanksMeasuredIsRankZeros) {
  write_metrics(path(), history(2), {}, comm());
  const MetricsHistory back = read_metrics(path(), comm());
  EXPECT_THAT(back.epoch.reals("epoch_seconds"), ElementsAre(1.0, 1.0));
  EXPECT_THAT(back.step.reals("elapsed_seconds"), ElementsAre(0.0, 1.0));
}

TEST_F(MetricsFile, TheRankTableHoldsAColumnARank) {
  write_metrics(path(), history(2), {}, comm());
  ArrayFileReader file(path(), metrics_format(), comm());
  const ArrayInfo* info = file.find("/rank/train_samples");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->shape, (std::vector<std::int64_t>{2, size()}));
  const std::vector<std::byte> bytes = file.read("/rank/train_samples");
  const auto* values = reinterpret_cast<const std::int64_t*>(bytes.data());
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int r = 0; r < size(); ++r) EXPECT_EQ(values[epoch * size() + r], 100 * r + epoch);
  }
}

TEST_F(MetricsFile, WithoutRowsIsReadable) {
  write_metrics(path(), {}, {}, comm());
  const MetricsHistory back = read_metrics(path(), comm());
  EXPECT_EQ(back.epoch.rows(), 0);
  EXPECT_EQ(back.rank.rows(), 0);
}

TEST_F(MetricsFile, GrowsByWholeReplacement) {
  write_metrics(path(), history(1), {}, comm());
  write_metrics(path(), history(3), {}, comm());
  EXPECT_EQ(read_metrics(path(), comm()).epoch.rows(), 3);
  EXPECT_FALSE(std::filesystem::exists(directory() / "metrics.h5.tmp"));
}

TEST_F(MetricsFile, TravelsInACheckpointUnderMetrics) {
  const MetricsHistory written = history(2);
  const auto checkpoint = directory() / "step_000000000020.h5";
  const Content content{.arrays = arrays_of(written, "/metrics"), .attributes = {}, .groups = {}};
  write_checkpoint(checkpoint, content, comm());
  CheckpointReader file(checkpoint, comm());
  EXPECT_NE(file.find("/metrics/epoch/train_loss"), nullptr);
  const MetricsHistory back = read_history(file, "/metrics");
  EXPECT_EQ(back.rank.columns(), written.rank.columns());
  EXPECT_EQ(back.epoch.integers("epoch"), written.epoch.integers("epoch"));
}

TEST_F(MetricsFile, AMissingQuantityIsNamed) {
  const Content content{.arrays = {}, .attributes = {}, .groups = {}};
  write_array_file(path(), metrics_format(), content, comm());
  EXPECT_THAT(common_error([&] { read_metrics(path(), comm()); }), HasSubstr("/epoch/epoch"));
}

TEST_F(MetricsFile, OfAnotherNumberOfRanksComesBackAsItWas) {
  MetricsHistory written = history(1);
  std::vector<MetricsColumn> columns = written.rank.columns();
  for (MetricsColumn& column : columns) std::visit([](auto& v) { v.resize(5); }, column.values);
  written.rank.assign(columns, 5);
  write_metrics(path(), written, {}, comm());
  const MetricsHistory back = read_metrics(path(), comm());
  EXPECT_EQ(back.rank.ranks(), 5);
  EXPECT_EQ(back.rank.columns(), columns);
}

}  // namespace
}  // namespace lockstep
