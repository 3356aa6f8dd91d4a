#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lockstep {

/// XXH3 (128 bits) of bytes given piece by piece. It tells contents apart, but is no defence
/// against somebody who makes two alike on purpose.
class ContentHash {
 public:
  ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;
  ~ContentHash();

  void add(std::span<const std::byte> bytes);
  /// The memory of `values`, in this machine's byte order.
  template <typename T>
  void add_values(std::span<const T> values) {
    add(std::as_bytes(values));
  }

  /// The high and the low half of the hash of all bytes so far.
  std::array<std::uint64_t, 2> halves() const;
  /// The same as 32 hexadecimal digits.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
