#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lockstep/base/dtype.hpp"

namespace lockstep {

/// IEEE 754's binary16, for zero and numbers of its normal range; bits that do not fit are cut off.
struct Float16 {
  Float16() = default;
  explicit Float16(double value) {
    const auto wide = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t sign = wide >> 31U << 15U;
    const std::uint32_t rebiased = (wide << 1U >> 14U) - ((127U - 15U) << 10U);
    bits = static_cast<std::uint16_t>(sign | (value == 0 ? 0U : rebiased));
  }
  explicit operator double() const {
    const double sign = (bits >> 15U) == 0 ? 1 : -1;
    const int exponent = (bits >> 10U) & 31;
    return exponent == 0 ? 0 : sign * std::ldexp(1024 + (bits & 1023), exponent - 15 - 10);
  }

  std::uint16_t bits = 0;
};

/// The upper half of a float32.
struct BFloat16 {
  BFloat16() = default;
  explicit BFloat16(double value)
      : bits(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >>
                                        16U)) {}
  explicit operator double() const {
    return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16U));
  }

  std::uint16_t bits = 0;
};

/// Calls `visitor` with a zero of the C++ type that holds an element of `dtype`.
template <typename Visit>
auto visit_dtype(DType dtype, Visit visitor) {
  switch (dtype) {
    case DType::uint8:
      return visitor(std::uint8_t{});
    case DType::int32:
      return visitor(std::int32_t{});
    case DType::int64:
      return visitor(std::int64_t{});
    case DType::float16:
      return visitor(Float16{});
    case DType::bfloat16:
      return visitor(BFloat16{});
    case DType::float32:
      return visitor(float{});
    case DType::float64:
      break;
  }
  return visitor(double{});
}

/// Element `index` of an array of `dtype`, which a double must be able to hold.
inline double load_number(DType dtype, const void* array, std::size_t index) {
  return visit_dtype(dtype, [&](auto number) {
    std::memcpy(&number, static_cast<const std::byte*>(array) + index * sizeof number,
                sizeof number);
    return static_cast<double>(number);
  });
}

inline void store_number(DType dtype, void* array, std::size_t index, double value) {
  visit_dtype(dtype, [&](auto number) {
    number = static_cast<decltype(number)>(value);
    std::memcpy(static_cast<std::byte*>(array) + index * sizeof number, &number, sizeof number);
  });
}

}  // namespace lockstep
