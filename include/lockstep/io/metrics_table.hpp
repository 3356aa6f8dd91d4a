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

/// One quantity over time.
struct MetricsColumn {
  std::string name;
  std::string units;
  std::variant<std::vector<std::int64_t>, std::vector<double>> values;

  /// int64 or float64.
  DType dtype() const;
};

/// Columns of equal length. A row gives each column one value of its type.
class MetricsTable {
 public:
  /// The columns, without rows.
  explicit MetricsTable(std::vector<MetricsColumn> columns);

  const std::vector<MetricsColumn>& columns() const { return columns_; }
  std::int64_t rows() const;

  /// Throws Error unless every column is named exactly once with a value of its type.
  void append(const std::vector<std::pair<std::string_view, MetricsValue>>& row);

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

}  // namespace lockstep
