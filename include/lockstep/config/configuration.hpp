#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/base/field.hpp"

namespace lockstep {

struct SettingEntry;

/// What a help page shows, and where it begins.
struct HelpChoice {
  std::string first_group;  ///< stands in front of the other groups; empty: none does
  /// Whether a setting of this group is shown; unset: all are.
  std::function<bool(std::string_view group, std::string_view name)> shows;
};

/// Each setting's name and value in the order of the field tables: what files keep of a run.
using StoredSettings = std::vector<std::pair<std::string, std::string>>;

/// Where settings may come from beside their defaults.
struct Sources {
  /// The command line behind the program's and the command's name.
  std::vector<std::string> arguments = {};
  /// The whole environment; only LOCKSTEP_<NAME> is looked at.
  std::map<std::string, std::string> environment = {};
  /// Environment variables that begin with LOCKSTEP_ but are no settings.
  std::vector<std::string> other_variables = {};
};

/// What the command line asks for beside settings.
struct Requests {
  bool help = false;          ///< --help or -h
  bool print_config = false;  ///< --print_config
};

/// All settings of a command, merged from its components' field tables.
///
/// Use: add() every table and check, read() the sources, perhaps apply_stored(), then validate().
///
/// A setting's value comes from the strongest source that names it; weakest first: default, stored
/// configuration, --config files (a later one wins), LOCKSTEP_<NAME> in the environment, command
/// line (given twice, the last one counts, so that a job script may end in "$@").
class Configuration {
 public:
  /// Says what is wrong with the settings together, one text for each thing.
  using Check = std::function<std::vector<std::string>()>;

  /// Adds settings to the help group `group`. A name added before is one setting with it: it is
  /// shown where it came first and assigned in all its tables. Throws Error (a mistake in the
  /// program) where two fields of one name differ in default, range or kind, or a name is no
  /// lower_case word or taken by --config, --print_config, --help or the --no- form of a switch.
  /// The variables behind the fields must outlive the configuration.
  void add(const std::string& group, const FieldTable& fields);

  /// Adds a check that validate() runs.
  void add_check(Check check) { checks_.push_back(std::move(check)); }

  /// Assigns what the sources say. Whatever is wrong is kept for validate() and leaves its setting
  /// as it was. Where help is requested nothing is read or assigned. Relative paths of --config
  /// files start at the working directory.
  Requests read(const Sources& sources);

  /// Gives settings that still have their default the values of a stored configuration (from a
  /// checkpoint, say), so it may come before or after read(). `origin` is shown as theirs. Bad
  /// values are kept for validate(). Returns the stored names that are no settings now.
  [[nodiscard]] std::vector<std::string> apply_stored(const StoredSettings& stored,
                                                      const std::string& origin);

  /// Throws one UsageError with a line for each thing that reading found wrong or a check says.
  void validate() const;

  /// Where the value of setting `name` comes from: "default", "<file>:<line>",
  /// "environment variable LOCKSTEP_<NAME>", "command line", or what apply_stored() was told.
  /// Throws Error where there is no such setting.
  std::string origin(std::string_view name) const;

  /// Whether setting `name` has the value that it has where nobody sets it. Throws Error where
  /// there is no such setting.
  bool has_default(std::string_view name) const;

  StoredSettings stored() const;
  /// The values as a file that --config reads back to the same values.
  std::string ini_text() const;
  /// The same with aligned values, each followed by its origin as a comment.
  std::string origins_text() const;
  /// Every setting with help, range and default by group, at most 100 columns wide.
  std::string help_text() const { return help_text({}); }
  /// The same of some of the settings.
  std::string help_text(const HelpChoice& choice) const;

 private:
  struct Setting {
    std::string group;
    std::vector<Field> fields;          // at least one; all alike but for the variable
    std::optional<std::string> origin;  // unset: the default

    const Field& field() const { return fields.front(); }
  };
  struct Group {
    std::string title;
    std::vector<const Setting*> settings;
  };

  void require_free_name(const Field& field) const;
  Setting* find(std::string_view name);
  const Setting& known(std::string_view name) const;
  std::vector<std::string> names() const;
  std::vector<Group> groups() const;
  void assign_all(const std::vector<SettingEntry>& layer);
  /// Returns what is wrong with the entry; empty where it was assigned.
  std::string assign(const SettingEntry& entry);

  std::vector<Setting> settings_;
  std::vector<Check> checks_;
  std::vector<std::string> problems_;
};

}  // namespace lockstep
