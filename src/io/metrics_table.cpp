#include "lockstep/io/metrics_table.hpp"

#include <algorithm>

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"

namespace lockstep {
namespace {

std::int64_t length_of(const MetricsColumn& column) {
  return std::visit([](const auto& values) { return narrow<std::int64_t>(values.size()); },
                    column.values);
}

[[noreturn]] void fail(const std::string& attempted, const std::string& column,
                       const std::string& reason) {
  throw Error(attempted, "column '" + column + "' " + reason);
}

/// Column `name`'s values, which must be Ts.
template <typename T>
const std::vector<T>& values_of(const std::vector<MetricsColumn>& columns, std::string_view name) {
  for (const MetricsColumn& column : columns) {
    if (column.name != name) continue;
    if (const auto* values = std::get_if<std::vector<T>>(&column.values)) return *values;
  }
  fail("look up a metric", std::string(name), "does not exist with that type");
}

}  // namespace

DType MetricsColumn::dtype() const {
  return std::holds_alternative<std::vector<double>>(values) ? DType::float64 : DType::int64;
}

MetricsTable::MetricsTable(std::vector<MetricsColumn> columns) : columns_(std::move(columns)) {}

std::int64_t MetricsTable::rows() const {
  return columns_.empty() ? 0 : length_of(columns_.front());
}

void MetricsTable::append(const std::vector<std::pair<std::string_view, MetricsValue>>& row) {
  constexpr const char* attempted = "append a row of metrics";
  // Looked through first, so that a bad row leaves the table as it was.
  std::vector<MetricsValue> ordered;
  for (const MetricsColumn& column : columns_) {
    const auto named = [&](const auto& cell) { return cell.first == column.name; };
    const auto cell = std::find_if(row.begin(), row.end(), named);
    if (cell == row.end()) fail(attempted, column.name, "has no value");
    if (std::find_if(cell + 1, row.end(), named) != row.end()) {
      fail(attempted, column.name, "has two values");
    }
    if (cell->second.index() != column.values.index()) {
      fail(attempted, column.name, "holds " + std::string(name_of(column.dtype())));
    }
    ordered.push_back(cell->second);
  }
  if (row.size() != columns_.size()) {
    throw Error(attempted, "there are " + std::to_string(row.size()) + " values for " +
                               std::to_string(columns_.size()) + " columns");
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::visit(
        [&](auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          values.push_back(std::get<T>(ordered[i]));
        },
        columns_[i].values);
  }
}

void MetricsTable::truncate(std::int64_t count) {
  if (count < 0 || count > rows()) {
    throw Error("cut metrics to " + std::to_string(count) + " rows",
                "there are " + std::to_string(rows()));
  }
  for (MetricsColumn& column : columns_) {
    std::visit([&](auto& values) { values.resize(static_cast<std::size_t>(count)); },
               column.values);
  }
}

const std::vector<std::int64_t>& MetricsTable::integers(std::string_view name) const {
  return values_of<std::int64_t>(columns_, name);
}

const std::vector<double>& MetricsTable::reals(std::string_view name) const {
  return values_of<double>(columns_, name);
}

void MetricsTable::assign(std::vector<MetricsColumn> columns) {
  constexpr const char* attempted = "replace a table of metrics";
  if (columns.size() != columns_.size()) throw Error(attempted, "the number of columns differs");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name != columns_[i].name || columns[i].dtype() != columns_[i].dtype()) {
      fail(attempted, columns[i].name, "is not '" + columns_[i].name + "' or of another type");
    }
    if (length_of(columns[i]) != length_of(columns.front())) {
      fail(attempted, columns[i].name, "has another length than '" + columns.front().name + "'");
    }
  }
  columns_ = std::move(columns);
}

}  // namespace lockstep
