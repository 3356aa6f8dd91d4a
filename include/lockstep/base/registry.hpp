#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

namespace lockstep {

/// Factories by name. What a registry holds is added explicitly by its owner (app's
/// register_builtins), never by static objects, which linkers drop.
template <typename Signature>
class Registry {
 public:
  using Factory = std::function<Signature>;

  /// `kind` is what the entries are called in messages, e.g. "model".
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  void add(std::string name, Factory factory) {
    if (!factories_.emplace(name, std::move(factory)).second) {
      throw Error("register " + kind_ + " '" + name + "'", "the name is taken");
    }
  }

  /// The names added so far, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, factory] : factories_) result.push_back(name);
    return result;
  }

  /// Throws UsageError that lists near names where `name` is unknown.
  const Factory& find(std::string_view name) const {
    const auto found = factories_.find(std::string(name));
    if (found == factories_.end()) {
      throw UsageError("choose a " + kind_, unknown_name_text(kind_, name, names()));
    }
    return found->second;
  }

 private:
  std::string kind_;
  std::map<std::string, Factory> factories_;
};

}  // namespace lockstep
