#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/error.hpp"

namespace lockstep {

/// Values one after the other in a string, for messages between ranks of one job (equal byte
/// order).
class Packer {
 public:
  void add(std::int64_t value) { add_bytes(&value, sizeof value); }
  void add(double value) { add_bytes(&value, sizeof value); }
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    bytes_.append(text);
  }
  void add(const std::vector<std::int64_t>& values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) add(value);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void add_bytes(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }

  std::string bytes_;
};

/// Takes the values out in the order they were put in; throws Error past the end.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  std::int64_t integer() { return number<std::int64_t>(); }
  double real() { return number<double>(); }
  std::string text() { return std::string(take(static_cast<std::size_t>(integer()))); }
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> values(static_cast<std::size_t>(integer()));
    for (std::int64_t& value : values) value = integer();
    return values;
  }

 private:
  template <typename T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view take(std::size_t size) {
    check(size <= rest_.size(), "unpack a message", "it ends too early");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace lockstep
