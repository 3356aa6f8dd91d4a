#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/kernels/winograd_conv.hpp"

namespace lockstep::kernels {

/// Counts of 32-bit words, but for `strips`: into how many pieces a batch can be cut.
struct WinogradSizes {
  std::int64_t strips;
  std::int64_t filters;           ///< transformed ones, in either direction with its own shape
  std::int64_t sums;              ///< correlate()'s result
  std::int64_t convolve_scratch;  ///< for each part that runs at the same time
  std::int64_t correlate_scratch;
};

/// The passes as compiled for one kind of CPU; winograd_passes.hpp says what each does. Scratch
/// memory is aligned to 64 bytes.
template <typename Image>
struct WinogradKernels {
  const char* name;
  WinogradTile tile;
  WinogradSizes (*sizes)(const Conv3x3Shape& shape);
  void (*transform_filters)(const Conv3x3Shape& shape, const float* filters, float* result);
  void (*transform_filters_rotated)(const Conv3x3Shape& shape, const float* filters, float* result);
  void (*convolve)(const Conv3x3Shape& shape, std::int64_t first, std::int64_t last, const Image* x,
                   const float* filters, Image* y, float* scratch);
  void (*correlate)(const Conv3x3Shape& shape, std::int64_t first, std::int64_t last,
                    const Image* x, const Image* dy, float* sums, float* scratch);
  void (*finish_filter_gradients)(const Conv3x3Shape& shape, const float* sums, std::int64_t parts,
                                  float* gradients);
};

/// nullptr where the compiler's target has no such instructions.
const WinogradKernels<float>* avx2_kernels();
const WinogradKernels<float>* avx512_kernels();

/// As accurate as can be, and with fewer multiplications.
const WinogradKernels<BFloat16>* avx512_bf16_kernels();
const WinogradKernels<BFloat16>* avx512_bf16_fast_kernels();

/// Those for instructions that this CPU has, of each tile the fastest first.
template <typename Image>
std::vector<const WinogradKernels<Image>*> usable_kernels();

}  // namespace lockstep::kernels
