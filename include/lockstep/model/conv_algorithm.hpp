#pragma once

namespace lockstep {

/// How 3x3 convolutions of stride 1 are computed.
enum class ConvAlgorithm {
  /// winograd in float32 with up to most_threads_by_default threads, direct otherwise
  automatic,
  direct,  ///< by LibTorch
  /// By Winograd's algorithm where it fits: in float32, or bfloat16 autocast, on a CPU that has the
  /// instructions, with 32 channels or more. That rounds otherwise. Tiles of four in float32, of
  /// two in bfloat16.
  winograd,
  /// The same, but in bfloat16 too with tiles of four, which rounds about three times as much.
  winograd_fast,
};

/// Each thread has sums of its own to keep, so with many threads it is not known to be faster.
inline constexpr int most_threads_by_default = 8;

}  // namespace lockstep
