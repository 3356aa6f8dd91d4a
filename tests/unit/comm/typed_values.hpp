#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

inline constexpr std::array reducible_dtypes{DType::uint8, DType::int32, DType::int64,
                                             DType::float32, DType::float64};
inline constexpr std::array all_dtypes{DType::uint8,   DType::int32,    DType::int64,
                                       DType::float16, DType::bfloat16, DType::float32,
                                       DType::float64};

/// An array of small whole numbers, stored as any dtype (as raw 16-bit words for the half types).
class TypedValues {
 public:
  TypedValues(DType dtype, const std::vector<int>& values)
      : dtype_(dtype), count_(values.size()), bytes_(values.size() * size_of(dtype)) {
    for (std::size_t i = 0; i < count_; ++i) store(i, values[i]);
  }

  Buffer buffer() {
    return {.data = bytes_.data(), .count = static_cast<std::int64_t>(count_), .dtype = dtype_};
  }

  std::vector<int> values() const {
    std::vector<int> values;
    for (std::size_t i = 0; i < count_; ++i) values.push_back(load(i));
    return values;
  }

 private:
  template <typename Visit>
  auto visit(Visit visitor) const {
    switch (dtype_) {
      case DType::uint8:
        return visitor(std::uint8_t{});
      case DType::int32:
        return visitor(std::int32_t{});
      case DType::int64:
        return visitor(std::int64_t{});
      case DType::float16:
      case DType::bfloat16:
        return visitor(std::uint16_t{});
      case DType::float32:
        return visitor(float{});
      case DType::float64:
        break;
    }
    return visitor(double{});
  }

  void store(std::size_t index, int value) {
    visit([&](auto zero) {
      const auto typed = static_cast<decltype(zero)>(value);
      std::memcpy(bytes_.data() + index * sizeof typed, &typed, sizeof typed);
    });
  }

  int load(std::size_t index) const {
    return visit([&](auto typed) {
      std::memcpy(&typed, bytes_.data() + index * sizeof typed, sizeof typed);
      return static_cast<int>(typed);
    });
  }

  DType dtype_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

}  // namespace lockstep
