#include "lockstep/train/retention.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "lockstep/train/recorder.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Ten steps an epoch.
class RetentionTest : public testing::Test {
 protected:
  void epoch(double loss_sum, std::int64_t correct, std::int64_t samples = 4) {
    ++epochs_;
    EpochRecord record;
    record.position = {.epoch = epochs_,
                       .offset = 0,
                       .consumed_samples = 40 * epochs_,
                       .global_step = 10 * epochs_};
    record.validation = {.loss_sum = loss_sum, .correct = correct, .samples = samples};
    recorder_.record_epoch(record, {.epochs = 100, .samples = 4000});
  }
  Retention kept() { return retention_of(options_, history_); }
  std::vector<std::string> attribute_names(std::int64_t step) {
    std::vector<std::string> names;
    for (const Attribute& attribute : checkpoint_attributes(history_, step)) {
      names.push_back(attribute.name);
    }
    return names;
  }

  TrainOptions options_;
  MetricsHistory history_;
  Log log_{/*rank=*/1};
  Recorder recorder_{log_, history_};
  std::int64_t epochs_ = 0;
};

TEST_F(RetentionTest, OfTheNewestOnlyUnlessMoreIsAskedFor) {
  options_.keep_last = 5;
  epoch(4.0, 1);
  EXPECT_EQ(kept().last, 5);
  EXPECT_THAT(kept().always, IsEmpty());
  EXPECT_THAT(kept().best_first, IsEmpty());
}

TEST_F(RetentionTest, OfEveryNthEpochForEver) {
  options_.keep_every = 2;
  for (int i = 0; i < 5; ++i) epoch(4.0, 1);
  EXPECT_THAT(kept().always, ElementsAre(20, 40));
}

TEST_F(RetentionTest, OfTheBestWhereLessIsBetterAndEarlierOfEqualOnes) {
  options_.keep_best = "val_loss";
  for (const double loss : {8.0, 2.0, 4.0, 2.0}) epoch(loss, 1);
  EXPECT_THAT(kept().best_first, ElementsAre(20, 40, 30, 10));
}

TEST_F(RetentionTest, OfTheBestWhereMoreIsBetter) {
  options_.keep_best = "val_accuracy";
  for (const std::int64_t correct : {1, 4, 3}) epoch(1.0, correct);
  EXPECT_THAT(kept().best_first, ElementsAre(20, 30, 10));
}

TEST_F(RetentionTest, OfNoEpochWithoutAValidationNorWithALossThatIsNoNumber) {
  options_.keep_best = "val_loss";
  epoch(8.0, 1);
  epoch(0.0, 0, /*samples=*/0);
  epoch(std::nan(""), 1);
  EXPECT_THAT(kept().best_first, ElementsAre(10));
}

TEST_F(RetentionTest, TellsInAttributesWhatTheLastEpochReachedOnlyAtItsEnd) {
  epoch(8.0, 1);
  EXPECT_THAT(attribute_names(10), ElementsAre("global_step", "epochs_done", "val_loss",
                                               "val_accuracy", "val_top5_accuracy"));
  EXPECT_EQ(checkpoint_attributes(history_, 10)[2].value, AttributeValue(2.0));
  EXPECT_THAT(attribute_names(13), ElementsAre("global_step", "epochs_done"));
}

}  // namespace
}  // namespace lockstep
