#include "unit/kernels/portable_kernels.hpp"

#include "kernels/winograd_passes.hpp"

namespace lockstep::kernels {
namespace {

template <typename Products>
struct Portable : Products {
  static constexpr int rows = 6;
  static constexpr int vectors = 4;
  static constexpr std::int64_t panel = vectors * Products::lanes;
  static constexpr std::int64_t convolve_tiles = 8;
  static constexpr std::int64_t correlate_tiles = 10;
};

constexpr auto kernels = kernels_of<Portable<Float32Products<16>>, 4>("any CPU");
constexpr auto small_kernels = kernels_of<Portable<Float32Products<16>>, 2>("any CPU, F(2x2)");
constexpr auto bfloat16_kernels =
    kernels_of<Portable<BFloat16Products<16>>, 2>("any CPU, bfloat16");
constexpr auto bfloat16_fast_kernels =
    kernels_of<Portable<BFloat16Products<16>>, 4>("any CPU, bfloat16, F(4x4)");

}  // namespace

const WinogradKernels<float>* portable_kernels() {
  return &kernels;
}

const WinogradKernels<float>* portable_small_kernels() {
  return &small_kernels;
}

const WinogradKernels<BFloat16>* portable_bfloat16_kernels() {
  return &bfloat16_kernels;
}

const WinogradKernels<BFloat16>* portable_bfloat16_fast_kernels() {
  return &bfloat16_fast_kernels;
}

}  // namespace lockstep::kernels
