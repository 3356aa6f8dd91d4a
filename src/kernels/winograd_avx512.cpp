#include "kernels/winograd_kernels.hpp"

#ifdef __AVX512F__

#include "kernels/winograd_passes.hpp"

namespace lockstep::kernels {
namespace {

/// 32 registers of 16 floats: 24 sums, four vectors of the right factor, elements of the left.
struct Avx512 : Float32Products<16> {
  static constexpr int rows = 6;
  static constexpr int vectors = 4;
  static constexpr std::int64_t panel = vectors * lanes;
  static constexpr std::int64_t convolve_tiles = 24;
  static constexpr std::int64_t correlate_tiles = 64;
};

constexpr WinogradKernels<float> kernels = kernels_of<Avx512, 4>("F(4x4, 3x3) by AVX-512");

}  // namespace

const WinogradKernels<float>* avx512_kernels() {
  return &kernels;
}

}  // namespace lockstep::kernels

#else

const lockstep::kernels::WinogradKernels<float>* lockstep::kernels::avx512_kernels() {
  return nullptr;
}

#endif
