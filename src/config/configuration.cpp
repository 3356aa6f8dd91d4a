#include "lockstep/config/configuration.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

#include "config/command_line.hpp"
#include "config/environment.hpp"
#include "config/ini.hpp"
#include "config/layer.hpp"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 3> reserved_names{"config", "help", "print_config"};

bool is_lower_case_word(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

}  // namespace

void Configuration::add(const std::string& group, const FieldTable& fields) {
  for (const Field& field : fields) {
    if (Setting* known = find(field.name())) {
      const Field& first = known->field();
      if (field.default_text() != first.default_text() || field.range() != first.range() ||
          field.is_switch() != first.is_switch()) {
        throw Error("add the setting '" + field.name() + "' to group " + group,
                    "group " + known->group + " has it with another default, range or kind");
      }
      known->fields.push_back(field);
    } else {
      require_free_name(field);
      settings_.push_back({group, {field}, std::nullopt});
    }
  }
}

void Configuration::require_free_name(const Field& field) const {
  const std::string& name = field.name();
  const std::string attempted = "add the setting '" + name + "'";
  if (!is_lower_case_word(name)) {
    throw Error(attempted, "a name consists of small letters, digits and '_'");
  }
  const bool is_reserved =
      std::find(reserved_names.begin(), reserved_names.end(), name) != reserved_names.end();
  const bool is_negation = std::any_of(settings_.begin(), settings_.end(), [&](const Setting& s) {
    const std::string& other = s.field().name();
    return (s.field().is_switch() && name == "no_" + other) ||
           (field.is_switch() && other == "no_" + name);
  });
  if (is_reserved || is_negation) throw Error(attempted, "another option is written like this");
}

Requests Configuration::read(const Sources& sources) {
  if (asks_for_help(sources.arguments)) return {.help = true};
  std::vector<OptionName> options;
  for (const Setting& setting : settings_) {
    options.push_back({setting.field().name(), setting.field().is_switch()});
  }
  const CommandLine line = read_command_line(sources.arguments, options);
  for (const std::string& path : line.config_files) assign_all(read_ini_file(path));
  assign_all(read_environment(sources.environment, sources.other_variables));
  assign_all(line.settings);
  return line.requests;
}

std::vector<std::string> Configuration::apply_stored(const StoredSettings& stored,
                                                     const std::string& origin) {
  std::vector<std::string> unknown;
  SettingLayer layer;
  const std::string place = origin + ": ";
  for (const auto& [name, value] : stored) {
    const Setting* setting = find(name);
    if (setting == nullptr) {
      unknown.push_back(name);
    } else if (!setting->origin) {
      layer.push_back({name, value, origin, place + name, ""});
    }
  }
  assign_all(layer);
  return unknown;
}

void Configuration::validate() const {
  std::vector<std::string> problems = problems_;
  for (const Check& check : checks_) {
    for (std::string& problem : check()) problems.push_back(std::move(problem));
  }
  if (problems.empty()) return;
  const std::string count =
      problems.size() == 1 ? "1 error" : std::to_string(problems.size()) + " errors";
  throw UsageError("read the configuration", count + "\n  " + joined(problems, "\n  "),
                   "--help, which lists every setting");
}

std::string Configuration::origin(std::string_view name) const {
  return known(name).origin.value_or("default");
}

bool Configuration::has_default(std::string_view name) const {
  const Field& field = known(name).field();
  return field.text() == field.default_text();
}

const Configuration::Setting& Configuration::known(std::string_view name) const {
  for (const Setting& setting : settings_) {
    if (setting.field().name() == name) return setting;
  }
  throw Error("look a setting up", unknown_setting_text(name, names()));
}

StoredSettings Configuration::stored() const {
  StoredSettings stored;
  for (const Setting& setting : settings_) {
    stored.emplace_back(setting.field().name(), setting.field().text());
  }
  return stored;
}

Configuration::Setting* Configuration::find(std::string_view name) {
  const auto found = std::find_if(settings_.begin(), settings_.end(), [&](const Setting& setting) {
    return setting.field().name() == name;
  });
  return found == settings_.end() ? nullptr : &*found;
}

std::vector<std::string> Configuration::names() const {
  std::vector<std::string> names;
  for (const Setting& setting : settings_) names.push_back(setting.field().name());
  return names;
}

std::vector<Configuration::Group> Configuration::groups() const {
  std::vector<Group> groups;
  for (const Setting& setting : settings_) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.title == setting.group; });
    if (group == groups.end()) group = groups.insert(group, {setting.group, {}});
    group->settings.push_back(&setting);
  }
  return groups;
}

void Configuration::assign_all(const std::vector<SettingEntry>& layer) {
  for (const SettingEntry& entry : layer) {
    const std::string problem = entry.problem.empty() ? assign(entry) : entry.problem;
    if (!problem.empty()) problems_.push_back(entry.place + ": " + problem);
  }
}

std::string Configuration::assign(const SettingEntry& entry) {
  Setting* setting = find(entry.name);
  if (setting == nullptr) return unknown_setting_text(entry, names());
  for (const Field& field : setting->fields) {
    if (const auto problem = field.assign(entry.value)) return *problem;
  }
  setting->origin = entry.origin;
  return "";
}

}  // namespace lockstep
