#pragma once

#include "lockstep/kernels/winograd_conv.hpp"

#include "kernels/vector.hpp"

namespace lockstep::kernels {

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

  Tiling(const Conv3x3Shape& shape, std::int64_t tiles_wanted)
      : height(shape.height),
        width(shape.width),
        across((width + m - 1) / m),
        down((height + m - 1) / m),
        strips(shape.batch * down),
        block_strips(smaller(strips, tiles_wanted < across ? 1 : tiles_wanted / across)),
        block_tiles(block_strips * across) {}
};

/// Transformed tiles of a block: `planes` matrices of tiles x channels.
struct Planes {
  float* first;
  std::int64_t plane;  ///< floats from one to the next
  std::int64_t tile;   ///< floats from one tile to the next
};

/// Channels of the planes that are inputs of a product, with an odd number of cache lines, since
/// tiles a power of two apart would share few places in the cache.
template <typename Target>
constexpr std::int64_t padded_channels(std::int64_t channels) {
  constexpr std::int64_t line = 16;
  const std::int64_t whole = rounded_up(rounded_up(channels, Target::panel), line);
  return whole / line % 2 == 0 ? whole + line : whole;
}

template <typename Target>
constexpr std::int64_t panels(std::int64_t channels) {
  return rounded_up(channels, Target::panel) / Target::panel;
}

/// Takes memory from an arena, or counts how much that would be.
class Cutter {
 public:
  explicit Cutter(float* arena) : arena_(arena) {}

  float* take(std::int64_t floats) {
    float* part = arena_ == nullptr ? nullptr : arena_ + used_;
    used_ += rounded_up(floats, 16);
    return part;
  }
  std::int64_t used() const { return used_; }

 private:
  float* arena_;
  std::int64_t used_ = 0;
};

}  // namespace lockstep::kernels
