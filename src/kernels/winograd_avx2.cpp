#include "kernels/winograd_kernels.hpp"

#if defined(__AVX2__) && defined(__FMA__)

#include "kernels/winograd_passes.hpp"

namespace lockstep::kernels {
namespace {

/// 16 registers of 8 floats: 12 sums, two vectors of the right factor, one element of the left.
struct Avx2 : Float32Products<8> {
  static constexpr int rows = 6;
  static constexpr int vectors = 2;
  static constexpr std::int64_t panel = vectors * lanes;
  static constexpr std::int64_t convolve_tiles = 48;
  static constexpr std::int64_t correlate_tiles = 64;
};

constexpr WinogradKernels<float> kernels = kernels_of<Avx2, 4>("F(4x4, 3x3) by AVX2");

}  // namespace

const WinogradKernels<float>* avx2_kernels() {
  return &kernels;
}

}  // namespace lockstep::kernels

#else

const lockstep::kernels::WinogradKernels<float>* lockstep::kernels::avx2_kernels() {
  return nullptr;
}

#endif
