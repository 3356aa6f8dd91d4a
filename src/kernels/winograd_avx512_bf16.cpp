#include "kernels/winograd_kernels.hpp"

#ifdef __AVX512BF16__

#include <immintrin.h>

#include "kernels/winograd_passes.hpp"

namespace lockstep::kernels {
namespace {

/// Rounds in one instruction, which takes numbers below the normal range for 0.
struct NativeBFloat16Format : BFloat16Format {
  template <typename Floats>
  LOCKSTEP_INLINE static auto narrowed(const Floats& values) {
    return (typename VectorsLike<Floats>::Halves)_mm512_cvtneps_pbh((__m512)values);
  }
  template <typename Floats>
  LOCKSTEP_INLINE static auto paired(const Floats& first, const Floats& second) {
    // The 16 of `first`, then those of `second`; in turn: 0, 16, 1, 17, ...
    const auto in_sequence = (__m512i)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
    const __m512i in_turn =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return (typename VectorsLike<Floats>::Words)_mm512_permutexvar_epi16(in_turn, in_sequence);
  }
};

/// As for AVX-512 in float32, but each step multiplies two numbers.
struct Avx512BFloat16 : Products<NativeBFloat16Format, 16> {
  static constexpr int rows = 6;
  static constexpr int vectors = 4;
  static constexpr std::int64_t panel = vectors * lanes;
  static constexpr std::int64_t convolve_tiles = 64;
  static constexpr std::int64_t correlate_tiles = 128;

  LOCKSTEP_INLINE static void add_product(const Floats& left, const Floats& right, Floats& sum) {
    sum = (Floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)left, (__m512bh)right);
  }
};

/// Of larger tiles fewer fit into the cache.
struct FewerTiles : Avx512BFloat16 {
  static constexpr std::int64_t convolve_tiles = 24;
  static constexpr std::int64_t correlate_tiles = 64;
};

constexpr WinogradKernels<BFloat16> kernels =
    kernels_of<Avx512BFloat16, 2>("F(2x2, 3x3) by AVX-512 BF16");
constexpr WinogradKernels<BFloat16> fast_kernels =
    kernels_of<FewerTiles, 4>("F(4x4, 3x3) by AVX-512 BF16");

}  // namespace

const WinogradKernels<BFloat16>* avx512_bf16_kernels() {
  return &kernels;
}

const WinogradKernels<BFloat16>* avx512_bf16_fast_kernels() {
  return &fast_kernels;
}

}  // namespace lockstep::kernels

#else

const lockstep::kernels::WinogradKernels<lockstep::BFloat16>*
lockstep::kernels::avx512_bf16_kernels() {
  return nullptr;
}

const lockstep::kernels::WinogradKernels<lockstep::BFloat16>*
lockstep::kernels::avx512_bf16_fast_kernels() {
  return nullptr;
}

#endif
