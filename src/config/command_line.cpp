#include "config/command_line.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <boost/program_options.hpp>

namespace lockstep {
namespace {

namespace po = boost::program_options;

constexpr std::string_view origin = "command line";

enum class Kind { value, switch_on, switch_off, config, print_config };

struct Known {
  Kind kind;
  std::string setting;
};
using KnownOptions = std::map<std::string, Known, std::less<>>;

KnownOptions known_options(const std::vector<OptionName>& names) {
  KnownOptions known{{"config", {Kind::config, ""}}, {"print_config", {Kind::print_config, ""}}};
  for (const auto& [name, is_switch] : names) {
    known[name] = {is_switch ? Kind::switch_on : Kind::value, name};
    if (is_switch) known["no_" + name] = {Kind::switch_off, name};
  }
  return known;
}

/// Boost's own splitting of a long option takes no '-' for '_' and throws on the empty value of
/// --name=, which is how a text is emptied.
std::vector<po::option> split_long_option(std::vector<std::string>& arguments) {
  const std::string token = arguments.front();
  if (!token.starts_with("--") || token.size() == 2) return {};
  const std::size_t equals = token.find('=');
  po::option option(setting_name(token.substr(2, equals - 2)), {});
  if (equals != std::string::npos) option.value.push_back(token.substr(equals + 1));
  option.original_tokens.push_back(token);
  arguments.erase(arguments.begin());
  return {option};
}

/// Boost throws at the first thing wrong, while all are to be told at once. So no option requires
/// its value here (an implicit one makes it optional) and unknown ones are let through.
std::vector<po::option> tokens(const std::vector<std::string>& arguments,
                               const KnownOptions& known) {
  po::options_description description;
  for (const auto& [name, option] : known) {
    description.add_options()(name.c_str(), po::value<std::string>()->implicit_value(""), "");
  }
  constexpr int style = po::command_line_style::allow_long |
                        po::command_line_style::long_allow_adjacent |
                        po::command_line_style::long_allow_next;
  return po::command_line_parser(arguments)
      .options(description)
      .style(style)
      .extra_style_parser(split_long_option)
      .allow_unregistered()
      .run()
      .options;
}

std::string unknown_option_text(const std::string& name, const KnownOptions& known) {
  std::vector<std::string> candidates{"help"};
  for (const auto& [candidate, option] : known) candidates.push_back(candidate);
  for (std::string& candidate : candidates) candidate.insert(0, "--");
  return unknown_setting_text("--" + name, candidates);
}

class Reader {
 public:
  explicit Reader(const KnownOptions& known) : known_(known) {}

  void add(const po::option& option) {
    const std::string& written = option.original_tokens.front();
    place_ = std::string(origin) + ": " + written.substr(0, written.find('='));
    const auto found = known_.find(option.string_key);
    if (found == known_.end()) {
      add_problem(unknown_option_text(option.string_key, known_));
      return;
    }
    const auto& [kind, setting] = found->second;
    const bool has_value = !option.value.empty();
    const std::string value = has_value ? option.value.front() : "";
    if (has_value && (kind == Kind::switch_off || kind == Kind::print_config)) {
      add_problem("takes no value, but got '" + value + "'");
    } else if (!has_value && (kind == Kind::value || kind == Kind::config)) {
      add_problem("needs a value");
    } else if (kind == Kind::config) {
      result_.config_files.push_back(value);
    } else if (kind == Kind::print_config) {
      result_.requests.print_config = true;
    } else {
      add_setting(setting, has_value ? value : kind == Kind::switch_off ? "false" : "true");
    }
  }

  void add_unexpected(const std::string& argument) {
    place_ = std::string(origin) + ": " + argument;
    add_problem(argument.starts_with('-') ? "unexpected argument; options begin with two dashes"
                                          : "unexpected argument; what follows it was not read");
  }

  CommandLine take() { return std::move(result_); }

 private:
  void add_setting(const std::string& name, const std::string& value) {
    result_.settings.push_back({name, value, std::string(origin), place_, ""});
  }
  void add_problem(const std::string& problem) {
    result_.settings.push_back({"", "", std::string(origin), place_, problem});
  }

  const KnownOptions& known_;
  std::string place_;
  CommandLine result_;
};

}  // namespace

bool asks_for_help(std::span<const std::string> arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "--help" || argument == "-h";
  });
}

CommandLine read_command_line(const std::vector<std::string>& arguments,
                              const std::vector<OptionName>& names) {
  const KnownOptions known = known_options(names);
  Reader reader(known);
  bool behind_unknown = false;  // what follows an unknown option is most likely its value
  for (const po::option& option : tokens(arguments, known)) {
    if (!option.string_key.empty()) {
      reader.add(option);
    } else if (!behind_unknown) {
      reader.add_unexpected(option.value.front());
      break;
    }
    behind_unknown = option.unregistered && option.value.empty();
  }
  return reader.take();
}

}  // namespace lockstep
