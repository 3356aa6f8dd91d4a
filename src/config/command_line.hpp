#pragma once

#include <span>
#include <string>
#include <vector>

#include "lockstep/config/configuration.hpp"

#include "config/layer.hpp"

namespace lockstep {

/// What the command line reader has to know of a setting.
struct OptionName {
  std::string name;
  bool is_switch = false;  ///< may stand without a value, and as --no-<name>
};

struct CommandLine {
  Requests requests;
  SettingLayer settings;
  std::vector<std::string> config_files;  ///< of --config, in order
};

/// Whether --help or -h is among the arguments. Asked first, so that wrong arguments beside it do
/// not stand between the user and the help.
bool asks_for_help(std::span<const std::string> arguments);

/// Splits the command line into settings. Takes --name value and --name=value; '-' in names counts
/// as '_'; names are never guessed from their beginning. Ends at the first argument that belongs to
/// no option, which is a problem.
CommandLine read_command_line(const std::vector<std::string>& arguments,
                              const std::vector<OptionName>& names);

}  // namespace lockstep
