#include "lockstep/base/field.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

constexpr std::string_view unset = "auto";

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

template <typename Number>
std::optional<Number> parsed(std::string_view text) {
  text = trimmed(text);
  // from_chars knows no plus sign; only one, and not before a minus, is a number's.
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename Number>
std::optional<std::string> assign_number(Number& variable, std::string_view text,
                                         const Range& range, std::string_view what) {
  const std::optional<Number> value = parsed<Number>(text);
  if (!value) return quoted(text) + " is not " + std::string(what);
  if (std::isnan(static_cast<double>(*value)) || !range.contains(static_cast<double>(*value))) {
    return quoted(trimmed(text)) + " is out of range; must be " +
           (range.text().empty() ? "a number" : range.text());
  }
  variable = *value;
  return std::nullopt;
}

std::optional<bool> parsed_bool(std::string_view text) {
  std::string lower(trimmed(text));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 4> yes{"true", "yes", "on", "1"};
  constexpr std::array<std::string_view, 4> no{"false", "no", "off", "0"};
  if (std::find(yes.begin(), yes.end(), lower) != yes.end()) return true;
  if (std::find(no.begin(), no.end(), lower) != no.end()) return false;
  return std::nullopt;
}

}  // namespace

Field::Field(std::string name, std::string help, std::string range, bool is_switch, Assign assign,
             Text text)
    : name_(std::move(name)),
      help_(std::move(help)),
      range_(std::move(range)),
      is_switch_(is_switch),
      assign_(std::move(assign)),
      text_(std::move(text)),
      default_text_(text_()) {}

bool Range::contains(double value) const {
  return (low_included ? value >= low : value > low) &&
         (high_included ? value <= high : value < high);
}

std::string Range::text() const {
  std::vector<std::string> parts;
  if (std::isfinite(low))
    parts.push_back((low_included ? "at least " : "above ") + shortest_text(low));
  if (std::isfinite(high)) {
    parts.push_back((high_included ? "at most " : "below ") + shortest_text(high));
  }
  return joined(parts, " and ");
}

Field field(std::string name, bool& variable, std::string help) {
  return {std::move(name),
          std::move(help),
          "",
          true,
          [&variable](std::string_view text) -> std::optional<std::string> {
            const std::optional<bool> value = parsed_bool(text);
            if (!value) return quoted(text) + " is neither true nor false";
            variable = *value;
            return std::nullopt;
          },
          [&variable] { return std::string(variable ? "true" : "false"); }};
}

Field field(std::string name, std::int64_t& variable, std::string help, Range range) {
  return {std::move(name),
          std::move(help),
          range.text(),
          false,
          [&variable, range](std::string_view text) {
            return assign_number(variable, text, range, "a whole number");
          },
          [&variable] { return std::to_string(variable); }};
}

Field field(std::string name, double& variable, std::string help, Range range) {
  return {std::move(name),
          std::move(help),
          range.text(),
          false,
          [&variable, range](std::string_view text) {
            return assign_number(variable, text, range, "a number");
          },
          [&variable] { return shortest_text(variable); }};
}

Field field(std::string name, std::string& variable, std::string help,
            std::vector<std::string> choices) {
  std::string range = joined(choices, " | ");
  return {
      std::move(name),
      std::move(help),
      std::move(range),
      false,
      [&variable, choices](std::string_view text) -> std::optional<std::string> {
        text = trimmed(text);
        if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
          return unknown_name_text("value", text, choices);
        }
        variable = std::string(text);
        return std::nullopt;
      },
      [&variable] { return variable; }};
}

Field field(std::string name, std::optional<std::int64_t>& variable, std::string help,
            Range range) {
  return {std::move(name),
          std::move(help),
          range.text(),
          false,
          [&variable, range](std::string_view text) -> std::optional<std::string> {
            if (trimmed(text) == unset) {
              variable = std::nullopt;
              return std::nullopt;
            }
            std::int64_t value = 0;
            if (auto wrong = assign_number(value, text, range, "a whole number")) return wrong;
            variable = value;
            return std::nullopt;
          },
          [&variable] { return variable ? std::to_string(*variable) : std::string(unset); }};
}

}  // namespace lockstep
