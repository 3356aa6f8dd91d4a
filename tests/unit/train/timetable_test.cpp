#include "lockstep/train/timetable.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

class TimetableTest : public testing::Test {
 protected:
  TimetableTest() {
    options_.save_every_minutes = 2.0;
    options_.metrics_interval = 30.0;
    options_.stop_margin = 120.0;
  }

  Timetable timetable() { return Timetable(options_, seconds_, to_job_end_); }

  TrainOptions options_;
  double now_ = 1000.0;
  double left_ = std::numeric_limits<double>::infinity();
  std::function<double()> seconds_ = [this] { return now_; };
  std::function<double()> to_job_end_ = [this] { return left_; };
};

TEST_F(TimetableTest, AFileIsDueOnceAnIntervalCountedFromWhenItWasWritten) {
  Timetable times = timetable();
  times.start();
  now_ += 29.0;
  EXPECT_FALSE(times.metrics_due());
  now_ += 1.0;
  EXPECT_TRUE(times.metrics_due());
  EXPECT_FALSE(times.metrics_due());
  now_ += 100.0;
  EXPECT_FALSE(times.metrics_due());  // said, and not yet written
  times.metrics_written();
  now_ += 30.0;
  EXPECT_TRUE(times.metrics_due());
  EXPECT_TRUE(times.checkpoint_due());  // 160 s after the start
}

TEST_F(TimetableTest, WithoutAnIntervalNothingIsDue) {
  options_.save_every_minutes = 0.0;
  Timetable times = timetable();
  times.start();
  now_ += 1e6;
  EXPECT_FALSE(times.checkpoint_due());
}

TEST_F(TimetableTest, TheJobEndsSoonWithinTheMarginOrTwiceACheckpoint) {
  Timetable times = timetable();
  EXPECT_FALSE(times.job_ends_soon(1e9));  // no end is known
  left_ = 3600.0;
  EXPECT_FALSE(times.job_ends_soon(0.0));
  left_ = 120.0;
  EXPECT_FALSE(times.job_ends_soon(60.0));
  left_ = 119.0;
  EXPECT_TRUE(times.job_ends_soon(0.0));
  left_ = 199.0;
  EXPECT_TRUE(times.job_ends_soon(100.0));
}

TEST_F(TimetableTest, OfAShortJobTheMarginLeavesHalf) {
  Timetable times = timetable();
  left_ = 100.0;
  EXPECT_FALSE(times.job_ends_soon(0.0));
  left_ = 51.0;
  EXPECT_FALSE(times.job_ends_soon(0.0));
  left_ = 49.0;
  EXPECT_TRUE(times.job_ends_soon(0.0));
}

}  // namespace
}  // namespace lockstep
