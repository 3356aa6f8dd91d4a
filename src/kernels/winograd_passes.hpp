#pragma once

#include "kernels/tile_product.hpp"
#include "kernels/winograd_filter.hpp"
#include "kernels/winograd_kernels.hpp"
#include "kernels/winograd_strip.hpp"

namespace lockstep::kernels {

/// What convolve() needs for one part of a batch.
template <typename Target, int m>
struct ConvolveScratch {
  Tiling<Target, m> tiling;
  StripScratch<Target, m> strip;
  Planes data;
  Planes products;

  ConvolveScratch(Cutter& memory, const Conv3x3Shape& shape)
      : tiling(shape, Target::convolve_tiles),
        strip(memory, tiling, shape.in_channels),
        data(planes_in(memory, padded_row(words<Target>(shape.in_channels)))),
        products(planes_in(memory, Target::panel)) {}

 private:
  // A line more than fits, so that planes do not share their places in the cache.
  Planes planes_in(Cutter& memory, std::int64_t tile) {
    const std::int64_t plane = rounded_up(tiling.block_tiles, Target::rows) * tile + 16;
    return {.first = memory.take(tiling.planes * plane), .plane = plane, .tile = tile};
  }
};

/// Convolves strips [first, last) of `x` with transformed filters into `y`.
template <typename Target, int m>
void convolve(const Conv3x3Shape& shape, std::int64_t first, std::int64_t last,
              const typename Target::Format::Image* x, const float* filters,
              typename Target::Format::Image* y, float* scratch) {
  Cutter memory(scratch);
  const ConvolveScratch<Target, m> s(memory, shape);
  const StripTransform<Target, m, data_matrix<m>, false> transform(s.tiling, s.strip, x,
                                                                   shape.in_channels);
  const std::int64_t depth = words<Target>(shape.in_channels);
  for (std::int64_t begin = first; begin < last; begin += s.tiling.block_strips) {
    const std::int64_t strips = smaller(s.tiling.block_strips, last - begin);
    const std::int64_t tiles = strips * s.tiling.across;
    for (std::int64_t i = 0; i < strips; ++i) {
      transform.run(begin + i, s.data, i * s.tiling.across);
    }
    for (std::int64_t panel = 0; panel < panels<Target>(shape.out_channels); ++panel) {
      for (std::int64_t plane = 0; plane < s.tiling.planes; ++plane) {
        const float* b = filters + (panel * s.tiling.planes + plane) * depth * Target::panel;
        for (std::int64_t tile = 0; tile < tiles; tile += Target::rows) {
          multiply_tile<Target, false>(
              {.first = s.data.first + plane * s.data.plane + tile * s.data.tile,
               .row = s.data.tile,
               .depth = 1},
              b, Target::panel, depth,
              s.products.first + plane * s.products.plane + tile * s.products.tile,
              s.products.tile);
        }
      }
      for (std::int64_t i = 0; i < strips; ++i) {
        finish_strip(s.tiling, s.products, i * s.tiling.across, begin + i, panel * Target::panel,
                     shape.out_channels, y);
      }
    }
  }
}

/// What correlate() needs for one part of a batch.
template <typename Target, int m>
struct CorrelateScratch {
  Tiling<Target, m> tiling;
  StripScratch<Target, m> strip;
  Planes data;
  Planes gradients;

  CorrelateScratch(Cutter& memory, const Conv3x3Shape& shape)
      : tiling(shape, Target::correlate_tiles),
        strip(memory, tiling,
              shape.in_channels > shape.out_channels ? shape.in_channels : shape.out_channels),
        data(planes_in(memory, padded_row(rounded_up(shape.in_channels, Target::panel)))),
        gradients(planes_in(memory, padded_row(rounded_up(shape.out_channels, Target::rows)))) {}

 private:
  Planes planes_in(Cutter& memory, std::int64_t tile) {
    const std::int64_t plane = tiling.block_strips * tiling.words_across() * tile + 16;
    return {.first = memory.take(tiling.planes * plane), .plane = plane, .tile = tile};
  }
};

/// Sums over the tiles of strips [first, last) of transformed output gradients times transformed
/// inputs, [plane][out][in] with padded numbers of channels. The sum over a block is added to those
/// over the blocks before: one running sum over all tiles would round several times more.
template <typename Target, int m>
void correlate(const Conv3x3Shape& shape, std::int64_t first, std::int64_t last,
               const typename Target::Format::Image* x, const typename Target::Format::Image* dy,
               float* sums, float* scratch) {
  Cutter memory(scratch);
  const CorrelateScratch<Target, m> s(memory, shape);
  const StripTransform<Target, m, data_matrix<m>, true> data(s.tiling, s.strip, x,
                                                             shape.in_channels);
  const StripTransform<Target, m, output_matrix<m>, true> gradients(s.tiling, s.strip, dy,
                                                                    shape.out_channels);
  const std::int64_t row = rounded_up(shape.in_channels, Target::panel);
  const std::int64_t sums_plane = rounded_up(shape.out_channels, Target::rows) * row;
  __builtin_memset(sums, 0, sizeof(float) * static_cast<std::size_t>(s.tiling.planes * sums_plane));
  for (std::int64_t begin = first; begin < last; begin += s.tiling.block_strips) {
    const std::int64_t strips = smaller(s.tiling.block_strips, last - begin);
    for (std::int64_t i = 0; i < strips; ++i) {
      data.run(begin + i, s.data, i * s.tiling.words_across());
      gradients.run(begin + i, s.gradients, i * s.tiling.words_across());
    }
    for (std::int64_t plane = 0; plane < s.tiling.planes; ++plane) {
      for (std::int64_t c = 0; c < row; c += Target::panel) {
        for (std::int64_t k = 0; k < shape.out_channels; k += Target::rows) {
          multiply_tile<Target, true>({.first = s.gradients.first + plane * s.gradients.plane + k,
                                       .row = 1,
                                       .depth = s.gradients.tile},
                                      s.data.first + plane * s.data.plane + c, s.data.tile,
                                      strips * s.tiling.words_across(),
                                      sums + plane * sums_plane + k * row + c, row);
        }
      }
    }
  }
}

template <typename Target, int m>
WinogradSizes sizes_of(const Conv3x3Shape& shape) {
  constexpr std::int64_t planes = (m + 2) * (m + 2);
  const std::int64_t in = shape.in_channels;
  const std::int64_t out = shape.out_channels;
  Cutter convolving(nullptr);
  Cutter correlating(nullptr);
  const ConvolveScratch<Target, m> forward(convolving, shape);
  const CorrelateScratch<Target, m> backward(correlating, shape);
  return {.strips = forward.tiling.strips,
          .filters = planes * words<Target>(in) * rounded_up(out, Target::panel),
          .sums = planes * rounded_up(out, Target::rows) * rounded_up(in, Target::panel),
          .convolve_scratch = convolving.used(),
          .correlate_scratch = correlating.used()};
}

template <typename Target, int m>
constexpr WinogradKernels<typename Target::Format::Image> kernels_of(const char* name) {
  return {.name = name,
          .tile = WinogradTile{m},
          .sizes = sizes_of<Target, m>,
          .transform_filters = transform_filters<Target, m>,
          .transform_filters_rotated = transform_filters_rotated<Target, m>,
          .convolve = convolve<Target, m>,
          .correlate = correlate<Target, m>,
          .finish_filter_gradients = finish_filter_gradients<Target, m>};
}

}  // namespace lockstep::kernels
