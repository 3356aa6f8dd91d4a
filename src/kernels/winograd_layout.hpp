#pragma once

#include "lockstep/kernels/winograd_conv.hpp"

#include "kernels/vector.hpp"

namespace lockstep::kernels {

/// 32-bit words that hold so many numbers.
template <typename Target>
constexpr std::int64_t words(std::int64_t numbers) {
  constexpr std::int64_t per_word = Target::Format::per_word;
  return (numbers + per_word - 1) / per_word;
}

/// A batch cut into tiles of m x m outputs. A strip is one row of tiles of one image; strips are
/// numbered through the batch, and a block is as many of them as are worked on together.
template <typename Target, int m>
struct Tiling {
  static constexpr int points = m + 2;            ///< in one dimension
  static constexpr int planes = points * points;  ///< places in a transformed tile
  std::int64_t height;
  std::int64_t width;
  std::int64_t across;  ///< tiles in a strip
  std::int64_t down;    ///< strips in an image
  std::int64_t strips;
  std::int64_t block_strips;
  std::int64_t block_tiles;

  /// Words in which the tiles of a strip lie where products sum over tiles.
  std::int64_t words_across() const { return words<Target>(across); }

  Tiling(const Conv3x3Shape& shape, std::int64_t tiles_wanted)
      : height(shape.height),
        width(shape.width),
        across((width + m - 1) / m),
        down((height + m - 1) / m),
        strips(shape.batch * down),
        block_strips(smaller(strips, tiles_wanted < across ? 1 : tiles_wanted / across)),
        block_tiles(block_strips * across) {}
};

/// Transformed tiles of a block: `planes` matrices of tiles x channels, in words along the
/// channels, or along the tiles where products sum over these.
struct Planes {
  float* first;
  std::int64_t plane;  ///< words from one to the next
  std::int64_t tile;   ///< words from one (word of) tiles to the next
};

/// An odd number of cache lines, since rows a power of two apart would share few places in the
/// cache.
LOCKSTEP_INLINE constexpr std::int64_t padded_row(std::int64_t words) {
  constexpr std::int64_t line = 16;
  const std::int64_t whole = rounded_up(words, line);
  return whole / line % 2 == 0 ? whole + line : whole;
}

template <typename Target>
constexpr std::int64_t panels(std::int64_t channels) {
  return rounded_up(channels, Target::panel) / Target::panel;
}

/// Takes memory from an arena, or counts how much that would be.
class Cutter {
 public:
  LOCKSTEP_INLINE explicit Cutter(float* arena) : arena_(arena) {}

  LOCKSTEP_INLINE float* take(std::int64_t words) {
    float* part = arena_ == nullptr ? nullptr : arena_ + used_;
    used_ += rounded_up(words, 16);
    return part;
  }
  LOCKSTEP_INLINE std::int64_t used() const { return used_; }

 private:
  float* arena_;
  std::int64_t used_ = 0;
};

}  // namespace lockstep::kernels
