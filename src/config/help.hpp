#pragma once

#include <string>
#include <vector>

#include "lockstep/base/field.hpp"

namespace lockstep {

/// Help on one option: how it is written and what it does.
struct HelpEntry {
  std::string option;
  std::string description;
};

struct HelpGroup {
  std::string title;
  std::vector<HelpEntry> entries;
};

HelpEntry help_entry(const Field& field);

/// The groups with their descriptions aligned in one column and wrapped at 100 columns.
std::string help_page(const std::vector<HelpGroup>& groups);

/// `text` wrapped at 100 columns.
std::string paragraph(const std::string& text);

}  // namespace lockstep
