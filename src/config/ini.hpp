#pragma once

#include <string>
#include <string_view>

#include "config/layer.hpp"

namespace lockstep {

/// Reads `name = value` lines; `file` is the name used in messages.
///
/// `#` or `;` at the start of a line or after a blank begins a comment. `[section]` lines order the
/// file for readers and mean nothing else. A value is taken as it stands, without the blanks around
/// it, or in double quotes with the escapes \\ \" \n \r \t. A name may occur once a file, but for
/// `include`, which read_ini_file() heeds.
///
/// (Boost's reader puts the section in front of the names, ends values at any '#' and stops at the
/// first error without its line.)
SettingLayer read_ini(std::string_view text, const std::string& file);

/// read_ini() of a file, behind the entries of the files it names by `include = FILE` lines, whose
/// paths are relative to its own directory: what the file itself says wins, wherever the lines
/// stand. A file that cannot be read, or includes itself, is the only entry's problem.
SettingLayer read_ini_file(const std::string& path);

/// `value` as read_ini() reads it back, in quotes where it needs them.
std::string ini_value(std::string_view value);

}  // namespace lockstep
