#include "lockstep/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace lockstep {
namespace {

char folded(char c) {
  return c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string joined(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // rows[i][j]: edits that turn the first i characters of a into the first j of b.
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  const auto same = [&](std::size_t i, std::size_t j) { return folded(a[i]) == folded(b[j]); };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = rows[i - 1][j - 1] + (same(i - 1, j - 1) ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, substitution});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates) {
  const std::size_t reach = std::max<std::size_t>(2, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= reach) near.emplace_back(distance, candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, near.size()); ++i) {
    names.push_back(std::move(near[i].second));
  }
  return names;
}

std::string unknown_name_text(std::string_view kind, std::string_view name,
                              std::span<const std::string> candidates) {
  std::string text = "unknown " + std::string(kind) + " '" + std::string(name) + "'";
  std::vector<std::string> near = nearest_names(name, candidates);
  if (near.empty()) return text + "; there are: " + joined(candidates, ", ");
  for (std::string& candidate : near) candidate = "'" + candidate + "'";
  return text + "; did you mean " + joined(near, " or ") + "?";
}

std::string counted(std::int64_t count, std::string_view noun, std::string_view plural_ending) {
  std::string text = std::to_string(count) + " " + std::string(noun);
  if (count != 1) text += plural_ending;
  return text;
}

std::string hex_text(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    text += digits[value / 16];
    text += digits[value % 16];
  }
  return text;
}

std::string shortest_text(double value) {
  std::array<char, 32> buffer{};
  const auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return status == std::errc() ? std::string(buffer.data(), end) : std::string("nan");
}

}  // namespace lockstep
