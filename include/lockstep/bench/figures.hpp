#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

/// A quantity measured once a block. All figures of a measurement take turns in each block, so that
/// a busy moment of the machine falls on all of them and ratios of figures hold.
struct Figure {
  std::string name;
  std::string unit;
  std::vector<double> blocks{};  ///< in the order they were measured
  std::string remark{};          ///< stands behind it in the table
};

/// Of its blocks, at least one.
double minimum(const Figure& figure);
double maximum(const Figure& figure);
/// The mean of the middle two where they are even in number.
double median(const Figure& figure);

/// A line a figure: name, minimum, median, maximum, unit, remark, in aligned columns.
std::string table_text(const std::vector<Figure>& figures);

/// What identifies a measurement, as pairs of name and value.
using Circumstances = std::vector<std::pair<std::string, std::string>>;

/// A JSON object of the circumstances and `figures`, a list of objects of name, unit, minimum,
/// median, maximum and blocks.
std::string json_text(const Circumstances& circumstances, const std::vector<Figure>& figures);

/// Called before each block; may throw to end the measurement. Collective.
using BeforeBlock = std::function<void()>;

}  // namespace lockstep
