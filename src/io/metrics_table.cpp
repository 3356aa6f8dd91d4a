#include "lockstep/io/metrics_table.hpp"

#include <algorithm>
#include <limits>

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

std::vector<MetricsColumn> without_rows(std::vector<MetricsColumn> columns) {
  for (MetricsColumn& column : columns) std::visit([](auto& v) { v.clear(); }, column.values);
  return columns;
}

/// What stands where a rank was not there.
template <typename T>
constexpr T absent() {
  return std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T{0};
}

}  // namespace

DType MetricsColumn::dtype() const {
  return std::holds_alternative<std::vector<double>>(values) ? DType::float64 : DType::int64;
}

MetricsTable::MetricsTable(std::vector<MetricsColumn> columns) : columns_(std::move(columns)) {}

std::int64_t MetricsTable::rows() const {
  return columns_.empty() ? 0 : length_of(columns_.front());
}

void MetricsTable::append(const MetricsRow& row) {
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

RankTable::RankTable(std::vector<MetricsColumn> columns) : columns_(std::move(columns)) {}

std::int64_t RankTable::rows() const {
  return ranks_ == 0 ? 0 : length_of(columns_.front()) / ranks_;
}

void RankTable::append(const std::vector<MetricsRow>& row_of_rank) {
  MetricsTable values(without_rows(columns_));
  for (const MetricsRow& row : row_of_rank) values.append(row);
  widen(values.rows());
  const std::int64_t missing = ranks_ - values.rows();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::visit(
        [&](auto& all) {
          using Values = std::decay_t<decltype(all)>;
          const auto& added = std::get<Values>(values.columns()[i].values);
          all.insert(all.end(), added.begin(), added.end());
          all.insert(all.end(), static_cast<std::size_t>(missing),
                     absent<typename Values::value_type>());
        },
        columns_[i].values);
  }
}

void RankTable::widen(std::int64_t ranks) {
  if (ranks <= ranks_) return;
  const std::int64_t row_count = rows();
  for (MetricsColumn& column : columns_) {
    std::visit(
        [&](auto& values) {
          using Values = std::decay_t<decltype(values)>;
          Values wide;
          for (std::int64_t row = 0; row < row_count; ++row) {
            const auto first = values.begin() + row * ranks_;
            wide.insert(wide.end(), first, first + ranks_);
            wide.insert(wide.end(), static_cast<std::size_t>(ranks - ranks_),
                        absent<typename Values::value_type>());
          }
          values = std::move(wide);
        },
        column.values);
  }
  ranks_ = ranks;
}

void RankTable::assign(std::vector<MetricsColumn> columns, std::int64_t ranks) {
  MetricsTable checked(without_rows(columns_));
  checked.assign(std::move(columns));
  check(ranks == 0 ? checked.rows() == 0 : checked.rows() % ranks == 0,
        "replace a table of ranks' metrics", "its length is no multiple of the number of ranks");
  columns_ = checked.columns();
  ranks_ = ranks;
}

}  // namespace lockstep
