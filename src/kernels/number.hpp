#pragma once

#include <cstdint>

#include "lockstep/kernels/winograd_conv.hpp"

#include "kernels/vector.hpp"

namespace lockstep::kernels {

// How images and the factors of products are stored. Transforms and sums are in float32 always, and
// so are filters and their gradients. Factors are stored in words of 32 bits, each with as many
// numbers as are multiplied at once: neighbours along the dimension that is summed over.

struct Float32Format {
  using Image = float;
  static constexpr int per_word = 1;

  template <typename Floats, bool full>
  LOCKSTEP_INLINE static Floats read(const float* from, std::int64_t count) {
    return load<Floats, full>(from, count);
  }
  template <typename Floats>
  LOCKSTEP_INLINE static Floats narrowed(const Floats& values) {
    return values;
  }
};

struct BFloat16Format {
  using Image = BFloat16;
  static constexpr int per_word = 2;

  template <typename Floats, bool full>
  LOCKSTEP_INLINE static Floats read(const BFloat16* from, std::int64_t count) {
    typename VectorsLike<Floats>::Halves halves{};
    if constexpr (full) {
      __builtin_memcpy(&halves, from, sizeof halves);
    } else {
      for (std::int64_t i = 0; i < count; ++i) halves[i] = static_cast<std::uint16_t>(from[i]);
    }
    const auto words = __builtin_convertvector(halves, typename VectorsLike<Floats>::Words) << 16;
    return __builtin_bit_cast(Floats, words);
  }

  /// To the nearest, in case of doubt to the even one; NaN stays NaN. In the low halves of words.
  template <typename Floats>
  LOCKSTEP_INLINE static auto rounded(const Floats& values) {
    using Words = typename VectorsLike<Floats>::Words;
    const Words bits = __builtin_bit_cast(Words, values);
    const Words nearest = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const Words quiet = (bits >> 16) | 0x40U;
    return (bits & 0x7fffffffU) > 0x7f800000U ? quiet : nearest;
  }
  template <typename Floats>
  LOCKSTEP_INLINE static auto narrowed(const Floats& values) {
    return __builtin_convertvector(rounded(values), typename VectorsLike<Floats>::Halves);
  }
  /// The numbers of two vectors in turn, in one word each.
  template <typename Floats>
  LOCKSTEP_INLINE static auto paired(const Floats& first, const Floats& second) {
    return rounded(first) | rounded(second) << 16;
  }
};

/// The part of a Target that says what is multiplied, in vectors of `lanes` words.
template <typename Format_, int lanes_>
struct Products {
  using Format = Format_;
  static constexpr int lanes = lanes_;
  using Floats = typename Vector<lanes>::Floats;

  /// One word in all lanes.
  LOCKSTEP_INLINE static Floats repeated(const float* word) {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, word, sizeof bits);
    const typename VectorsLike<Floats>::Words words = typename VectorsLike<Floats>::Words{} + bits;
    return __builtin_bit_cast(Floats, words);
  }
};

template <int lanes>
struct Float32Products : Products<Float32Format, lanes> {
  using Floats = typename Vector<lanes>::Floats;
  LOCKSTEP_INLINE static void add_product(const Floats& left, const Floats& right, Floats& sum) {
    sum += left * right;
  }
};

/// The two products of each word one after the other, as any CPU can.
template <int lanes>
struct BFloat16Products : Products<BFloat16Format, lanes> {
  using Floats = typename Vector<lanes>::Floats;
  LOCKSTEP_INLINE static void add_product(const Floats& left, const Floats& right, Floats& sum) {
    using Words = typename VectorsLike<Floats>::Words;
    const Words a = __builtin_bit_cast(Words, left);
    const Words b = __builtin_bit_cast(Words, right);
    const Words first_a = a << 16;
    const Words first_b = b << 16;
    const Words second_a = a & 0xffff0000U;
    const Words second_b = b & 0xffff0000U;
    sum += __builtin_bit_cast(Floats, first_a) * __builtin_bit_cast(Floats, first_b);
    sum += __builtin_bit_cast(Floats, second_a) * __builtin_bit_cast(Floats, second_b);
  }
};

}  // namespace lockstep::kernels
