#pragma once

#include <cstdint>

// A file that is compiled for instructions which not every CPU has must not give the linker a
// function that other files use as well, in whose place it might be taken. So what is here is
// always inlined, all other templates of the kernels depend on the Target, and none of them uses
// the standard library's functions.
#define LOCKSTEP_INLINE [[gnu::always_inline]] inline

namespace lockstep::kernels {

/// `lanes` floats as GCC's and Clang's vector extension has them: arithmetic by element, for any
/// width on any CPU, in one instruction where the compiler may use it.
template <int lanes>
struct Vector {
  typedef float Floats __attribute__((vector_size(lanes * sizeof(float))));
};

/// Words of 32 and 16 bits, as many as there are floats in a vector.
template <typename Floats>
struct VectorsLike {
  static constexpr int lanes = sizeof(Floats) / sizeof(float);
  typedef std::uint32_t Words __attribute__((vector_size(lanes * sizeof(std::uint32_t))));
  typedef std::uint16_t Halves __attribute__((vector_size(lanes * sizeof(std::uint16_t))));
};

/// `count` floats from any address, the remaining lanes 0; all lanes where `full`.
template <typename Floats, bool full = true>
LOCKSTEP_INLINE Floats load(const float* from, std::int64_t count = 0) {
  Floats vector{};
  if constexpr (full) {
    __builtin_memcpy(&vector, from, sizeof vector);
  } else {
    for (std::int64_t i = 0; i < count; ++i) vector[i] = from[i];
  }
  return vector;
}

template <typename Number, typename Numbers>
LOCKSTEP_INLINE void store(Number* to, const Numbers& vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

/// The first `count` lanes, which may be all.
template <typename Number, typename Numbers>
LOCKSTEP_INLINE void store(Number* to, const Numbers& vector, std::int64_t count) {
  constexpr std::int64_t lanes = sizeof vector / sizeof(Number);
  if (count >= lanes) return store(to, vector);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Number>(vector[i]);
}

LOCKSTEP_INLINE constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

LOCKSTEP_INLINE constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

}  // namespace lockstep::kernels
