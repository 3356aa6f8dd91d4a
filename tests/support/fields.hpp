#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/base/field.hpp"

namespace lockstep::test {

/// Names of settings and their values as texts.
using Values = std::vector<std::pair<std::string, std::string>>;

/// Assigns `values` to the fields of these names.
inline void assign(FieldTable fields, const Values& values) {
  for (const auto& [name, value] : values) {
    const auto found = std::ranges::find(fields, name, &Field::name);
    ASSERT_NE(found, fields.end()) << name;
    ASSERT_EQ(found->assign(value), std::nullopt) << name << " = " << value;
  }
}

/// A `Builder` with these settings.
template <typename Builder>
Builder built_with(const Values& values) {
  Builder builder;
  assign(builder.fields(), values);
  return builder;
}

}  // namespace lockstep::test
