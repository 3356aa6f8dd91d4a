#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lockstep/comm/communicator.hpp"

#include "support/numbers.hpp"

namespace lockstep {

inline constexpr std::array reducible_dtypes{DType::uint8, DType::int32, DType::int64,
                                             DType::float32, DType::float64};
inline constexpr std::array all_dtypes{DType::uint8,   DType::int32,    DType::int64,
                                       DType::float16, DType::bfloat16, DType::float32,
                                       DType::float64};

/// An array of small whole numbers, stored as any dtype.
class TypedValues {
 public:
  TypedValues(DType dtype, const std::vector<int>& values)
      : dtype_(dtype), count_(values.size()), bytes_(values.size() * size_of(dtype)) {
    for (std::size_t i = 0; i < count_; ++i) store_number(dtype, bytes_.data(), i, values[i]);
  }

  Buffer buffer() {
    return {.data = bytes_.data(), .count = static_cast<std::int64_t>(count_), .dtype = dtype_};
  }

  std::vector<int> values() const {
    std::vector<int> values;
    for (std::size_t i = 0; i < count_; ++i) {
      values.push_back(static_cast<int>(load_number(dtype_, bytes_.data(), i)));
    }
    return values;
  }

 private:
  DType dtype_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

}  // namespace lockstep
