#include "lockstep/io/metrics_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;

MetricsTable two_columns() {
  return MetricsTable({{"epoch", "epochs", std::vector<std::int64_t>{}},
                       {"loss", "nats per sample", std::vector<double>{}}});
}

TEST(MetricsTable, RowsAreAppendedByName) {
  MetricsTable table = two_columns();
  table.append({{"epoch", 0}, {"loss", 2.5}});
  table.append({{"loss", 1.5}, {"epoch", 1}});
  EXPECT_EQ(table.rows(), 2);
  EXPECT_THAT(table.integers("epoch"), ElementsAre(0, 1));
  EXPECT_THAT(table.reals("loss"), ElementsAre(2.5, 1.5));
}

TEST(MetricsTable, IsCutBackToTheFirstRows) {
  MetricsTable table = two_columns();
  table.append({{"epoch", 0}, {"loss", 2.5}});
  table.append({{"epoch", 1}, {"loss", 1.5}});
  table.truncate(1);
  EXPECT_THAT(table.integers("epoch"), ElementsAre(0));
  EXPECT_THAT(table.reals("loss"), ElementsAre(2.5));
  EXPECT_THROW(table.truncate(2), Error);
}

TEST(MetricsTable, ABadRowIsRefusedAndChangesNothing) {
  MetricsTable table = two_columns();
  EXPECT_THROW(table.append({{"epoch", 0}}), Error);
  EXPECT_THROW(table.append({{"epoch", 0}, {"loss", 1}}), Error);  // an integer for a real
  EXPECT_THROW(table.append({{"epoch", 0}, {"loss", 1.0}, {"other", 2}}), Error);
  EXPECT_THROW(table.append({{"epoch", 0}, {"loss", 1.0}, {"loss", 2.0}}), Error);
  EXPECT_EQ(table.rows(), 0);
  EXPECT_TRUE(table.integers("epoch").empty());
}

TEST(MetricsTable, ColumnsAreFoundByNameAndType) {
  const MetricsTable table = two_columns();
  EXPECT_THROW(table.reals("epoch"), Error);
  EXPECT_THROW(table.integers("nothing"), Error);
}

TEST(MetricsTable, ReplacedColumnsMustFit) {
  MetricsTable table = two_columns();
  using Integers = std::vector<std::int64_t>;
  using Reals = std::vector<double>;
  table.assign({{"epoch", "epochs", Integers{0, 1}}, {"loss", "", Reals{3.0, 2.0}}});
  EXPECT_EQ(table.rows(), 2);
  EXPECT_THROW(table.assign({{"epoch", "", Integers{0}}, {"loss", "", Reals{}}}), Error);
  EXPECT_THROW(table.assign({{"loss", "", Reals{}}, {"epoch", "", Integers{}}}), Error);
  EXPECT_THROW(table.assign({{"epoch", "", Integers{}}}), Error);
  EXPECT_EQ(table.rows(), 2);
}

TEST(RankTable, IsAsWideAsTheMostRanksThatEverWere) {
  RankTable table(two_columns().columns());
  EXPECT_EQ(table.rows(), 0);
  table.append({{{"epoch", 1}, {"loss", 0.5}}});
  table.append({{{"epoch", 2}, {"loss", 1.5}}, {{"epoch", 3}, {"loss", 2.5}}});
  table.append({{{"epoch", 4}, {"loss", 3.5}}});
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(table.ranks(), 2);
  const auto& counts = std::get<std::vector<std::int64_t>>(table.columns()[0].values);
  const auto& losses = std::get<std::vector<double>>(table.columns()[1].values);
  EXPECT_THAT(counts, ElementsAre(1, 0, 2, 3, 4, 0));
  EXPECT_THAT(losses, ElementsAre(0.5, testing::IsNan(), 1.5, 2.5, 3.5, testing::IsNan()));
}

TEST(RankTable, ValuesThatDoNotFitAreRefused) {
  RankTable table(two_columns().columns());
  EXPECT_THROW(table.append({{{"epoch", 1}}}), Error);
  std::vector<MetricsColumn> columns = two_columns().columns();
  columns[0].values = std::vector<std::int64_t>(3);
  columns[1].values = std::vector<double>(3);
  EXPECT_THROW(table.assign(columns, 2), Error);
  table.assign(columns, 3);
  EXPECT_EQ(table.rows(), 1);
}

}  // namespace
}  // namespace lockstep
