#include "unit/kernels/portable_kernels.hpp"

#include "kernels/winograd_passes.hpp"

namespace lockstep::kernels {
namespace {

struct Portable {
  static constexpr int lanes = 16;
  static constexpr int rows = 6;
  static constexpr int vectors = 4;
  static constexpr std::int64_t panel = vectors * lanes;
  static constexpr std::int64_t convolve_tiles = 8;
  static constexpr std::int64_t correlate_tiles = 10;
};

constexpr WinogradKernels kernels = kernels_of<Portable, 4>("any CPU");
constexpr WinogradKernels small_kernels = kernels_of<Portable, 2>("any CPU, F(2x2)");

}  // namespace

const WinogradKernels* portable_kernels() {
  return &kernels;
}

const WinogradKernels* portable_small_kernels() {
  return &small_kernels;
}

}  // namespace lockstep::kernels
