#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// One entry of a component's field table: a setting's name, default, help, range and the variable
/// it sets, all in one place, so that flag, file key, help, validation and stored form cannot
/// drift.
class Field {
 public:
  /// Takes a text and sets the variable; returns what is wrong with the text, if anything.
  using Assign = std::function<std::optional<std::string>(std::string_view)>;
  using Text = std::function<std::string()>;

  Field(std::string name, std::string help, std::string range, bool is_switch, Assign assign,
        Text text);

  /// As written on the command line and in files: lower case with underscores.
  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  /// What values are allowed, for people: "at least 1", "batch or group"; may be empty.
  const std::string& range() const { return range_; }
  /// The value the variable had when the table was made.
  const std::string& default_text() const { return default_text_; }
  /// Whether the field is a bool, which a flag without a value turns on and `--no-name` off.
  bool is_switch() const { return is_switch_; }

  std::optional<std::string> assign(std::string_view text) const { return assign_(text); }
  /// The present value, in the form assign() takes.
  std::string text() const { return text_(); }

 private:
  std::string name_;
  std::string help_;
  std::string range_;
  bool is_switch_;
  Assign assign_;
  Text text_;
  std::string default_text_;
};

/// A component's settings. The fields refer to the variables they were made from, which must
/// outlive the table.
using FieldTable = std::vector<Field>;

/// Inclusive or exclusive bounds of a number.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_included = true;
  bool high_included = true;

  bool contains(double value) const;
  std::string text() const;
};

inline Range at_least(double low) {
  return {.low = low};
}
inline Range above(double low) {
  return {.low = low, .low_included = false};
}
inline Range between(double low, double high) {
  return {.low = low, .high = high};
}
/// low <= value < high.
inline Range from_up_to(double low, double high) {
  return {.low = low, .high = high, .high_included = false};
}

// One maker a type of variable; the variable's present value is the default.
Field field(std::string name, bool& variable, std::string help);
Field field(std::string name, std::int64_t& variable, std::string help, Range range = {});
Field field(std::string name, double& variable, std::string help, Range range = {});
/// `choices` empty: any text.
Field field(std::string name, std::string& variable, std::string help,
            std::vector<std::string> choices = {});
/// A number that may be left unset; stored and shown as "auto" then.
Field field(std::string name, std::optional<std::int64_t>& variable, std::string help,
            Range range = {});

}  // namespace lockstep
