#include "lockstep/train/recorder.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Recorder, DurationsHaveAtMostTwoUnits) {
  EXPECT_EQ(duration_text(0.0124), "12 ms");
  EXPECT_EQ(duration_text(8.44), "8.4 s");
  EXPECT_EQ(duration_text(200.0), "3 min 20 s");
  EXPECT_EQ(duration_text(7500.0), "2 h 05 min");
}

TEST(Recorder, AnEpochIsARowOfSumsCountsAndTheirRatios) {
  Log log(/*rank=*/1);
  MetricsHistory history;
  Recorder recorder(log, history);
  EpochRecord record;
  record.position = {.epoch = 3, .offset = 0, .consumed_samples = 24, .global_step = 6};
  record.training = {.loss_sum = 12.0, .correct = 6, .samples = 8};
  record.train_seconds = 2.0;
  recorder.record_epoch(record, {.epochs = 5, .samples = 40});

  EXPECT_EQ(history.epoch.integers("epoch").back(), 2);
  EXPECT_EQ(history.epoch.integers("samples_seen").back(), 24);
  EXPECT_DOUBLE_EQ(history.epoch.reals("train_loss").back(), 1.5);
  EXPECT_DOUBLE_EQ(history.epoch.reals("train_accuracy").back(), 0.75);
  EXPECT_DOUBLE_EQ(history.epoch.reals("images_per_second").back(), 4.0);
  EXPECT_TRUE(std::isnan(history.epoch.reals("val_loss").back()));
  EXPECT_EQ(history.epoch.integers("val_samples").back(), 0);
}

}  // namespace
}  // namespace lockstep
