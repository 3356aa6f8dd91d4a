#include "lockstep/bench/figures.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

/// Four digits, and never an exponent where there are more.
std::string number_text(double value) {
  return value < 1e3 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

double minimum(const Figure& figure) {
  return std::ranges::min(figure.blocks);
}

double maximum(const Figure& figure) {
  return std::ranges::max(figure.blocks);
}

double median(const Figure& figure) {
  std::vector<double> sorted = figure.blocks;
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::string table_text(const std::vector<Figure>& figures) {
  std::size_t width = 0;
  for (const Figure& figure : figures) width = std::max(width, figure.name.size());
  std::string text =
      fmt::format("{:<{}}{:>12}{:>12}{:>12}\n", "", width, "minimum", "median", "maximum");
  for (const Figure& figure : figures) {
    std::string line = fmt::format("{:<{}}{:>12}{:>12}{:>12}  {}", figure.name, width,
                                   number_text(minimum(figure)), number_text(median(figure)),
                                   number_text(maximum(figure)), figure.unit);
    if (!figure.remark.empty()) line += "  (" + figure.remark + ")";
    text += line + "\n";
  }
  return text;
}

std::string json_text(const Circumstances& circumstances, const std::vector<Figure>& figures) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : circumstances) json[name] = value;
  json["figures"] = nlohmann::ordered_json::array();
  for (const Figure& figure : figures) {
    json["figures"].push_back({{"name", figure.name},
                               {"unit", figure.unit},
                               {"minimum", minimum(figure)},
                               {"median", median(figure)},
                               {"maximum", maximum(figure)},
                               {"blocks", figure.blocks}});
  }
  return json.dump(2) + "\n";
}

}  // namespace lockstep
