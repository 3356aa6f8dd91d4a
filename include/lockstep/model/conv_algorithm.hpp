#pragma once

namespace lockstep {

/// How 3x3 convolutions of stride 1 are computed.
enum class ConvAlgorithm {
  automatic,  ///< winograd in float32, direct otherwise
  direct,     ///< by LibTorch
  /// By Winograd's algorithm where it fits: in float32, or bfloat16 autocast, on a CPU that has the
  /// instructions, with 32 channels or more. That rounds otherwise.
  winograd,
};

}  // namespace lockstep
