#include "config/ini.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

constexpr std::string_view comment_marks = "#;";
constexpr std::string_view include_name = "include";
constexpr std::string_view blanks = " \t\r";
/// What stands behind the backslash, and what it means.
constexpr std::array<std::pair<char, char>, 5> escapes{
    {{'\\', '\\'}, {'"', '"'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}}};

bool is_comment_or_empty(std::string_view text) {
  text = trimmed(text);
  return text.empty() || comment_marks.find(text.front()) != std::string_view::npos;
}

std::string_view without_comment(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_word = i == 0 || blanks.find(text[i - 1]) != std::string_view::npos;
    if (begins_word && comment_marks.find(text[i]) != std::string_view::npos) {
      return text.substr(0, i);
    }
  }
  return text;
}

std::optional<char> unescaped(char mark) {
  for (const auto& [escape, meaning] : escapes) {
    if (escape == mark) return meaning;
  }
  return std::nullopt;
}

/// Reads the value that begins with the quote `text` begins with; returns what is wrong, if
/// anything.
std::string read_quoted(std::string_view text, std::string& value) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      return is_comment_or_empty(text.substr(i + 1)) ? ""
                                                     : "there is text behind the closing quote";
    }
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    const std::optional<char> meaning = ++i < text.size() ? unescaped(text[i]) : std::nullopt;
    if (!meaning) return R"(in quotes '\' must be followed by one of \ " n r t)";
    value += *meaning;
  }
  return "the closing quote is missing";
}

/// Fills in the entry's name and value or its problem.
void read_line(std::string_view line, SettingEntry& entry) {
  const std::size_t equals = line.find('=');
  if (line.front() == '[') {
    const std::size_t end = line.find(']');
    if (end == std::string_view::npos || !is_comment_or_empty(line.substr(end + 1))) {
      entry.problem = "expected [section], found '" + std::string(line) + "'";
    }
    return;
  }
  const std::string_view name = trimmed(line.substr(0, equals));
  if (equals == std::string_view::npos || name.empty()) {
    entry.problem = "expected name = value, found '" + std::string(line) + "'";
    return;
  }
  entry.name = setting_name(name);
  entry.place += ": " + std::string(name);
  const std::string_view value = trimmed(line.substr(equals + 1));
  if (value.starts_with('"')) {
    entry.problem = read_quoted(value, entry.value);
  } else {
    entry.value = trimmed(without_comment(value));
  }
}

/// Reads a file and those it includes, and refuses one that leads back to itself.
class IniFileReader {
 public:
  /// `place`: who asks for the file.
  SettingLayer read(const std::filesystem::path& path, const std::string& place) {
    const auto problem = [&](const std::string& text) {
      return SettingLayer{{"", "", place, place, text}};
    };
    const std::string name = "'" + path.string() + "'";
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return problem(name + " is a directory");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return problem("cannot read " + name + ": " + errno_text(errno));
    const std::filesystem::path identity = std::filesystem::weakly_canonical(path, ignored);
    if (!open_.insert(identity).second) return problem(name + " includes itself");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    SettingLayer layer = with_included(read_ini(text, path.string()), path.parent_path());
    open_.erase(identity);
    return layer;
  }

 private:
  /// What is included comes first, so that the file's own values win.
  SettingLayer with_included(SettingLayer own, const std::filesystem::path& directory) {
    SettingLayer all;
    for (const SettingEntry& entry : own) {
      if (entry.name != include_name || !entry.problem.empty()) continue;
      for (SettingEntry& included : read(directory / entry.value, entry.place)) {
        all.push_back(std::move(included));
      }
    }
    for (SettingEntry& entry : own) {
      if (entry.name != include_name || !entry.problem.empty()) all.push_back(std::move(entry));
    }
    return all;
  }

  std::set<std::filesystem::path> open_;  // the files being read, outermost to innermost
};

}  // namespace

SettingLayer read_ini(std::string_view text, const std::string& file) {
  SettingLayer layer;
  std::map<std::string, std::string> origins;  // of the names met so far
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (is_comment_or_empty(line)) continue;

    const std::string origin = file + ":" + std::to_string(number);
    SettingEntry entry{"", "", origin, origin, ""};
    read_line(line, entry);
    if (entry.problem.empty() && entry.name.empty()) continue;
    if (entry.problem.empty() && entry.name != include_name) {
      const auto [first, is_new] = origins.emplace(entry.name, origin);
      if (!is_new) entry.problem = "already set at " + first->second;
    }
    layer.push_back(std::move(entry));
  }
  return layer;
}

SettingLayer read_ini_file(const std::string& path) {
  return IniFileReader().read(path, "command line: --config");
}

std::string ini_value(std::string_view value) {
  const bool plain = value == trimmed(value) && !value.starts_with('"') &&
                     value.find_first_of("\n\r\t#;") == std::string_view::npos;
  if (plain) return std::string(value);
  std::string quoted = "\"";
  for (const char c : value) {
    char mark = '\0';
    for (const auto& [escape, meaning] : escapes) {
      if (meaning == c) mark = escape;
    }
    if (mark != '\0') quoted += '\\';
    quoted += mark != '\0' ? mark : c;
  }
  return quoted + '"';
}

}  // namespace lockstep
