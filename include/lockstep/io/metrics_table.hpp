#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lockstep/base/dtype.hpp"

namespace lockstep {

using MetricsValue = std::variant<std::int64_t, double>;
/// A value a column, by name.
using MetricsRow = std::vector<std::pair<std::string_view, MetricsValue>>;

/// One quantity over time.
struct MetricsColumn {
  std::string name;
  std::string units;
  std::variant<std::vector<std::int64_t>, std::vector<double>> values;

  /// int64 or float64.
  DType dtype() const;
  bool operator==(const MetricsColumn&) const = default;
};

/// Columns of equal length. A row gives each column one value of its type.
class MetricsTable {
 public:
  /// The columns, without rows.
  explicit MetricsTable(std::vector<MetricsColumn> columns);

  const std::vector<MetricsColumn>& columns() const { return columns_; }
  std::int64_t rows() const;

  /// Throws Error unless every column is named exactly once with a value of its type.
  void append(const MetricsRow& row);

  /// Drops all rows after the first `rows`; throws Error where there are fewer.
  void truncate(std::int64_t rows);

  /// A column's values; throw Error where no column has that name and type.
  const std::vector<std::int64_t>& integers(std::string_view name) const;
  const std::vector<double>& reals(std::string_view name) const;

  /// Replaces all values; throws Error where names, types or lengths do not fit.
  void assign(std::vector<MetricsColumn> columns);

 private:
  std::vector<MetricsColumn> columns_;
};

/// Columns of one value a row and rank, row by row: values[row * ranks() + rank]. As wide as the
/// most ranks that ever were: where a row had fewer, counts are 0 and reals NaN.
class RankTable {
 public:
  /// The columns, without rows.
  explicit RankTable(std::vector<MetricsColumn> columns);

  const std::vector<MetricsColumn>& columns() const { return columns_; }
  std::int64_t ranks() const { return ranks_; }
  std::int64_t rows() const;

  /// Throws Error as MetricsTable::append() does.
  void append(const std::vector<MetricsRow>& row_of_rank);

  /// Replaces all values; throws Error where names, types or lengths do not fit.
  void assign(std::vector<MetricsColumn> columns, std::int64_t ranks);

 private:
  void widen(std::int64_t ranks);

  std::vector<MetricsColumn> columns_;
  std::int64_t ranks_ = 0;
};

}  // namespace lockstep
