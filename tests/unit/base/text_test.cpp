#include "lockstep/base/text.hpp"

#include <array>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::vector<std::string>;

TEST(Trimmed, TakesBlanksFromBothEndsOnly) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \t "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Joined, PutsTheSeparatorBetweenPartsOnly) {
  EXPECT_EQ(joined(Names{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(joined(Names{"a"}, ", "), "a");
  EXPECT_EQ(joined(Names{}, ", "), "");
}

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("lr", "lr"), 0U);
  EXPECT_EQ(edit_distance("", "lr"), 2U);
  EXPECT_EQ(edit_distance("epoch", "epochs"), 1U);
  EXPECT_EQ(edit_distance("epochs", "epoch"), 1U);
  EXPECT_EQ(edit_distance("seed", "sead"), 1U);
  EXPECT_EQ(edit_distance("batch_szie", "batch_size"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(EditDistance, TakesCaseDashAndUnderscoreAsEqual) {
  EXPECT_EQ(edit_distance("Batch-Size", "batch_size"), 0U);
}

TEST(NearestNames, AreAtMostThreeNearestFirst) {
  EXPECT_THAT(nearest_names("step", Names{"stop_it", "steps", "step", "stop", "rep"}),
              ElementsAre("step", "steps", "stop"));
  EXPECT_THAT(nearest_names("momentum", Names{"lr", "seed"}), IsEmpty());
}

TEST(UnknownNameText, NamesWhatWasProbablyMeant) {
  EXPECT_EQ(unknown_name_text("optimizer", "adm", Names{"adam", "lion"}),
            "unknown optimizer 'adm'; did you mean 'adam'?");
  EXPECT_EQ(unknown_name_text("optimizer", "adaw", Names{"adam", "adamw"}),
            "unknown optimizer 'adaw'; did you mean 'adam' or 'adamw'?");
}

TEST(UnknownNameText, ListsAllWhereNoneIsNear) {
  EXPECT_EQ(unknown_name_text("model", "transformer", Names{"mini_resnet", "mlp"}),
            "unknown model 'transformer'; there are: mini_resnet, mlp");
}

TEST(ShortestText, ReadsBackAsTheSameDouble) {
  EXPECT_EQ(shortest_text(0.1), "0.1");
  EXPECT_EQ(shortest_text(64), "64");
  EXPECT_EQ(shortest_text(-2.5e-9), "-2.5e-09");
  EXPECT_EQ(shortest_text(1.0 / 3.0), "0.3333333333333333");
  EXPECT_EQ(shortest_text(-0.0), "-0");
  constexpr double longest = -std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(std::stod("-" + shortest_text(std::numeric_limits<double>::max())),
            -std::numeric_limits<double>::max());
  EXPECT_EQ(shortest_text(longest), "-5e-324");
}

TEST(ShortestText, NamesWhatIsNoNumber) {
  EXPECT_EQ(shortest_text(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(shortest_text(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Counted, TakesThePluralUnlessThereIsOne) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(2, "batch", "es"), "2 batches");
}

TEST(HexText, HasTwoDigitsAByteInTheirOrder) {
  const std::array bytes{std::byte{0x00}, std::byte{0x9a}, std::byte{0xf0}};
  EXPECT_EQ(hex_text(bytes), "009af0");
  EXPECT_EQ(hex_text({}), "");
}

}  // namespace
}  // namespace lockstep
