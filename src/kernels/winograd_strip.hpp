#pragma once

#include "kernels/cook_toom.hpp"
#include "kernels/number.hpp"
#include "kernels/winograd_layout.hpp"

namespace lockstep::kernels {

/// Memory for one strip's transform: columns of `points` places each for one vector of channels,
/// and a row of zeros for what lies outside of the image.
template <typename Target, int m>
struct StripScratch {
  using Floats = typename Vector<Target::lanes>::Floats;
  using Image = typename Target::Format::Image;
  Floats* columns;
  Image* zeros;

  StripScratch(Cutter& memory, const Tiling<Target, m>& tiling, std::int64_t channels)
      : columns(reinterpret_cast<Floats*>(
            memory.take((m + 2) * (tiling.across * m + 2) * Target::lanes))),
        zeros(reinterpret_cast<Image*>(memory.take(tiling.width * channels))) {
    if (zeros == nullptr) return;
    __builtin_memset(zeros, 0, sizeof(Image) * static_cast<std::size_t>(tiling.width * channels));
  }
};

/// Transforms strip `index` of an NHWC image batch into the tiles from `first_tile` on. With
/// data_matrix<m> a tile is m + 2 pixels wide and overlaps its neighbours, with output_matrix<m> it
/// is m wide. What lies outside of the image is 0. Words are along the tiles where `sums_tiles`.
template <typename Target, int m, const auto& matrix, bool sums_tiles>
class StripTransform {
 public:
  using Image = typename Target::Format::Image;

  StripTransform(const Tiling<Target, m>& tiling, const StripScratch<Target, m>& scratch,
                 const Image* images, std::int64_t channels)
      : tiling_(tiling), scratch_(scratch), images_(images), channels_(channels) {}

  /// Into planes from row `first`.
  void run(std::int64_t index, const Planes& planes, std::int64_t first) const {
    const Image* rows[taps];
    const std::int64_t top = index % tiling_.down * m - halo;
    for (int i = 0; i < taps; ++i) {
      const std::int64_t y = top + i;
      rows[i] =
          y < 0 || y >= tiling_.height
              ? scratch_.zeros
              : images_ + (index / tiling_.down * tiling_.height + y) * tiling_.width * channels_;
    }
    float* tiles = planes.first + first * planes.tile;
    for (std::int64_t c = 0; c < channels_; c += Target::lanes) {
      if (c + Target::lanes <= channels_) {
        down<true>(rows, c);
      } else {
        down<false>(rows, c);
      }
      across(tiles, c, planes);
    }
  }

 private:
  using Format = typename Target::Format;
  using Floats = typename Vector<Target::lanes>::Floats;
  static constexpr int points = m + 2;
  static constexpr int taps = matrix.columns;
  static constexpr int halo = (taps - m) / 2;

  Floats* row(int point) const {
    return scratch_.columns + point * (tiling_.across * m + 2 * halo);
  }

  template <bool full>
  void down(const Image* const* rows, std::int64_t c) const {
    for (std::int64_t x = 0; x < tiling_.width; ++x) {
      Floats values[taps];
      Floats transformed[points];
#pragma GCC unroll 8
      for (int i = 0; i < taps; ++i) {
        values[i] = Format::template read<Floats, full>(rows[i] + x * channels_ + c, channels_ - c);
      }
      to_points<matrix>(values, transformed);
#pragma GCC unroll 8
      for (int i = 0; i < points; ++i) row(i)[x + halo] = transformed[i];
    }
    for (int i = 0; i < points; ++i) {
      if constexpr (halo > 0) row(i)[0] = Floats{};
      for (std::int64_t x = tiling_.width + halo; x < tiling_.across * m + 2 * halo; ++x) {
        row(i)[x] = Floats{};
      }
    }
  }

  void across(float* tiles, std::int64_t c, const Planes& planes) const {
    if constexpr (sums_tiles && Format::per_word == 2) {
      for (std::int64_t tile = 0; tile < tiling_.across; tile += 2) {
        pair(tiles + tile / 2 * planes.tile + c, tile, planes.plane);
      }
    } else {
      for (std::int64_t tile = 0; tile < tiling_.across; ++tile) {
        one(reinterpret_cast<Image*>(tiles + tile * planes.tile) + c, tile, planes.plane);
      }
    }
  }

  void one(Image* place, std::int64_t tile, std::int64_t plane) const {
#pragma GCC unroll 8
    for (int i = 0; i < points; ++i) {
      Floats values[points];
      to_points<matrix>(row(i) + tile * m, values);
#pragma GCC unroll 8
      for (int j = 0; j < points; ++j) {
        store(place + (i * points + j) * plane * Format::per_word, Format::narrowed(values[j]));
      }
    }
  }

  /// A tile and the next one, or zeros after the last.
  void pair(float* place, std::int64_t tile, std::int64_t plane) const {
#pragma GCC unroll 8
    for (int i = 0; i < points; ++i) {
      Floats values[points];
      Floats next[points] = {};
      to_points<matrix>(row(i) + tile * m, values);
      if (tile + 1 < tiling_.across) to_points<matrix>(row(i) + (tile + 1) * m, next);
#pragma GCC unroll 8
      for (int j = 0; j < points; ++j) {
        store(place + (i * points + j) * plane, Format::paired(values[j], next[j]));
      }
    }
  }

  const Tiling<Target, m>& tiling_;
  const StripScratch<Target, m>& scratch_;
  const Image* images_;
  std::int64_t channels_;
};

/// Writes the outputs of strip `index` in channels [first, first + Target::panel) of an NHWC batch
/// from products whose tiles begin at `first_tile` and hold these channels alone.
template <typename Target, int m>
void finish_strip(const Tiling<Target, m>& tiling, const Planes& products, std::int64_t first_tile,
                  std::int64_t index, std::int64_t first, std::int64_t channels,
                  typename Target::Format::Image* images) {
  using Floats = typename Vector<Target::lanes>::Floats;
  constexpr int points = m + 2;
  const std::int64_t top = index % tiling.down * m;
  const std::int64_t rows = smaller(m, tiling.height - top);
  auto* const image_row =
      images + (index / tiling.down * tiling.height + top) * tiling.width * channels;
  const std::int64_t used = smaller(Target::panel, channels - first);
  for (std::int64_t tile = 0; tile < tiling.across; ++tile) {
    const std::int64_t left = tile * m;
    const std::int64_t columns = smaller(m, tiling.width - left);
    for (std::int64_t c = 0; c < used; c += Target::lanes) {
      const float* product = products.first + (first_tile + tile) * products.tile + c;
      Floats half[m][points];
#pragma GCC unroll 8
      for (int j = 0; j < points; ++j) {
        Floats column[points];
        Floats outputs[m];
#pragma GCC unroll 8
        for (int i = 0; i < points; ++i) {
          column[i] = load<Floats>(product + (i * points + j) * products.plane);
        }
        from_points<output_matrix<m>>(column, outputs);
#pragma GCC unroll 8
        for (int i = 0; i < m; ++i) half[i][j] = outputs[i];
      }
#pragma GCC unroll 8
      for (int i = 0; i < m; ++i) {
        if (i >= rows) break;
        Floats outputs[m];
        from_points<output_matrix<m>>(half[i], outputs);
        auto* place = image_row + (i * tiling.width + left) * channels + first + c;
#pragma GCC unroll 8
        for (int j = 0; j < m; ++j) {
          if (j < columns)
            store(place + j * channels, Target::Format::narrowed(outputs[j]), used - c);
        }
      }
    }
  }
}

}  // namespace lockstep::kernels
