#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep {

/// The element types that cross module borders: in messages, files and batches.
enum class DType { uint8, int32, int64, float16, bfloat16, float32, float64 };

/// Bytes of one element.
std::size_t size_of(DType dtype);

/// The name users see and files store, e.g. "float32".
std::string_view name_of(DType dtype);

/// The dtype with that name; throws UsageError naming the nearest ones.
DType dtype_named(std::string_view name);

}  // namespace lockstep
