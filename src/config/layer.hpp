#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// One thing a source says: a name given a value, or something that could not be read.
struct SettingEntry {
  std::string name;
  std::string value;
  std::string origin;   ///< for people: "command line", "train.ini:3"
  std::string place;    ///< what messages about the entry begin with: "train.ini:3: batch_size"
  std::string problem;  ///< what could not be read; empty where name and value count
  /// How the source writes a setting's name, for suggestions; empty: as the setting itself.
  std::string (*written)(const std::string& setting) = nullptr;
};

/// What one source says, in its order.
using SettingLayer = std::vector<SettingEntry>;

/// A setting's name as it is stored: '-' counts as '_'.
std::string setting_name(std::string_view written);

/// "unknown setting; did you mean 'lr'?", without the question where no candidate is near.
std::string unknown_setting_text(std::string_view name, std::span<const std::string> candidates);
/// The same for an entry, with settings as its source writes them.
std::string unknown_setting_text(const SettingEntry& entry,
                                 std::span<const std::string> candidates);

}  // namespace lockstep
