#pragma once

#include <array>
#include <cstdint>

namespace lockstep {

/// Philox4x32-10, a counter-based random generator: four random words are a pure function of a
/// counter and a key, so a draw needs no state and does not depend on what was drawn before.
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// A stream of draws from philox4x32, keyed by a seed and addressed by two coordinates (such as
/// epoch and sample id): equal arguments give equal draws, whoever asks and whenever.
class PhiloxStream {
 public:
  PhiloxStream(std::uint64_t seed, std::uint64_t coordinate, std::uint32_t stream = 0);

  std::uint32_t next_uint32();

 private:
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace lockstep
