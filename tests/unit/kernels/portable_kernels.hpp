#pragma once

#include "kernels/winograd_kernels.hpp"

namespace lockstep::kernels {

/// As wide as AVX-512's, but compiled for any CPU: what does not depend on the instructions can be
/// tested without them.
const WinogradKernels* portable_kernels();

/// The same with F(2x2, 3x3).
const WinogradKernels* portable_small_kernels();

}  // namespace lockstep::kernels
