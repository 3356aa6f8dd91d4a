#include "config/help.hpp"

#include <algorithm>
#include <sstream>

#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

constexpr std::size_t page_width = 100;
constexpr std::size_t margin = 2;           // before an option
constexpr std::size_t gap = 2;              // between an option and its description
constexpr std::size_t widest_aligned = 30;  // longer options have a line of their own

std::string default_words(const Field& field) {
  if (field.is_switch()) return field.default_text() == "true" ? "on" : "off";
  return field.default_text().empty() ? "none" : field.default_text();
}

std::size_t option_column(const std::vector<HelpGroup>& groups) {
  std::size_t widest = 0;
  for (const HelpGroup& group : groups) {
    for (const HelpEntry& entry : group.entries) {
      if (entry.option.size() <= widest_aligned) widest = std::max(widest, entry.option.size());
    }
  }
  return margin + widest + gap;
}

/// Words in lines of at most page_width columns. The first word stands at column `indent`, behind
/// what the caller wrote there; later lines are indented to it.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::size_t column = indent;
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > page_width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result + '\n';
}

}  // namespace

HelpEntry help_entry(const Field& field) {
  std::string description = field.help() + " (";
  if (!field.range().empty()) description += field.range() + "; ";
  description += "default: " + default_words(field) + ")";
  return {(field.is_switch() ? "--[no-]" : "--") + field.name(), description};
}

std::string help_page(const std::vector<HelpGroup>& groups) {
  const std::size_t column = option_column(groups);
  std::string page;
  for (const HelpGroup& group : groups) {
    if (!page.empty()) page += '\n';
    page += group.title + '\n';
    for (const HelpEntry& entry : group.entries) {
      std::string start = std::string(margin, ' ') + entry.option;
      if (start.size() + gap > column) {
        page += start + '\n';
        start.clear();
      }
      start.resize(column, ' ');
      page += start + wrapped(entry.description, column);
    }
  }
  return page;
}

std::string paragraph(const std::string& text) {
  return wrapped(text, 0);
}

}  // namespace lockstep
