#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

std::string_view trimmed(std::string_view text);

/// `parts` joined by `separator`.
std::string joined(std::span<const std::string> parts, std::string_view separator);

/// "1 rank", "2 ranks", "0 batches" with the plural that is given.
std::string counted(std::int64_t count, std::string_view noun,
                    std::string_view plural_ending = "s");

/// Edits (insertions, deletions, substitutions, swaps of neighbours) between two words, with case,
/// '-' and '_' taken as equal (optimal string alignment distance).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidates near enough to `name` to be what was meant, nearest first, at most three.
std::vector<std::string> nearest_names(std::string_view name,
                                       std::span<const std::string> candidates);

/// "unknown <kind> 'x'; did you mean 'y'?", or a list of all candidates where none is near.
std::string unknown_name_text(std::string_view kind, std::string_view name,
                              std::span<const std::string> candidates);

/// Two lower-case hexadecimal digits a byte.
std::string hex_text(std::span<const std::byte> bytes);

/// The shortest decimal text that reads back as the same double.
std::string shortest_text(double value);

}  // namespace lockstep
