#pragma once

#include "kernels/winograd_kernels.hpp"

namespace lockstep::kernels {

/// As wide as AVX-512's, but compiled for any CPU: what does not depend on the instructions can be
/// tested without them.
const WinogradKernels<float>* portable_kernels();

/// The same with F(2x2, 3x3).
const WinogradKernels<float>* portable_small_kernels();

/// The same for bfloat16, whose products are made from float32's.
const WinogradKernels<BFloat16>* portable_bfloat16_kernels();

/// The same for bfloat16 with F(4x4, 3x3).
const WinogradKernels<BFloat16>* portable_bfloat16_fast_kernels();

}  // namespace lockstep::kernels
