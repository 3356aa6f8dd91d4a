// What a configuration shows of itself: files, origins, help.
#include <algorithm>
#include <utility>

#include "lockstep/config/configuration.hpp"

#include "config/help.hpp"
#include "config/ini.hpp"

namespace lockstep {
namespace {

/// Values longer than this do not push the comments of all lines to the right.
constexpr std::size_t widest_aligned = 40;

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

}  // namespace

std::string Configuration::ini_text() const {
  std::string text;
  for (const Group& group : groups()) {
    if (!text.empty()) text += '\n';
    text += "[" + group.title + "]\n";
    for (const Setting* setting : group.settings) {
      text += setting->field().name() + " = " + ini_value(setting->field().text()) + '\n';
    }
  }
  return text;
}

std::string Configuration::origins_text() const {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const Setting& setting : settings_) {
    name_width = std::max(name_width, setting.field().name().size());
    const std::size_t size = ini_value(setting.field().text()).size();
    if (size <= widest_aligned) value_width = std::max(value_width, size);
  }
  std::string text;
  for (const Group& group : groups()) {
    if (!text.empty()) text += '\n';
    text += "[" + group.title + "]\n";
    for (const Setting* setting : group.settings) {
      text += padded(setting->field().name(), name_width) + " = " +
              padded(ini_value(setting->field().text()), value_width) + "   # " +
              setting->origin.value_or("default") + '\n';
    }
  }
  return text;
}

std::string Configuration::help_text(const HelpChoice& choice) const {
  std::vector<HelpGroup> page;
  for (const Group& group : groups()) {
    HelpGroup shown{group.title, {}};
    for (const Setting* setting : group.settings) {
      if (choice.shows && !choice.shows(group.title, setting->field().name())) continue;
      shown.entries.push_back(help_entry(setting->field()));
    }
    if (shown.entries.empty()) continue;
    const bool first = group.title == choice.first_group;
    page.insert(first ? page.begin() : page.end(), std::move(shown));
  }
  page.push_back({"Configuration",
                  {{"--config FILE",
                    "read settings from FILE, one `name = value` a line, `#` before comments; may "
                    "be given several times, a later file wins"},
                   {"--print_config", "show every setting, its value and where it comes from"},
                   {"--help, -h", "show this text"}}});
  return help_page(page) + '\n' +
         paragraph(
             "Values are given as `--name value` or `--name=value`, with '-' or '_' within "
             "names; a switch is turned on by --name and off by --no-name. An option given "
             "twice takes its last value. Each setting may also stand in a --config file, or "
             "in the environment as LOCKSTEP_<NAME> in capitals; the environment beats "
             "files, and the command line beats both.");
}

}  // namespace lockstep
