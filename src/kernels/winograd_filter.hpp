#pragma once

#include "kernels/cook_toom.hpp"
#include "kernels/number.hpp"
#include "kernels/winograd_layout.hpp"

namespace lockstep::kernels {

/// One vector of input channels of the filters [out][3][3][in], transformed to points; rotated by
/// half a turn where `rotated`.
template <typename Target, int m, bool full, bool rotated>
LOCKSTEP_INLINE void filter_to_points(const float* filter, std::int64_t in_channels,
                                      std::int64_t count,
                                      typename Vector<Target::lanes>::Floats* result) {
  using Floats = typename Vector<Target::lanes>::Floats;
  constexpr int points = m + 2;
  Floats half[points][3];
#pragma GCC unroll 3
  for (int s = 0; s < 3; ++s) {
    Floats taps[3];
    Floats column[points];
#pragma GCC unroll 3
    for (int r = 0; r < 3; ++r) {
      const int tap = rotated ? 8 - (3 * r + s) : 3 * r + s;
      taps[r] = load<Floats, full>(filter + tap * in_channels, count);
    }
    to_points<filter_matrix<m>>(taps, column);
#pragma GCC unroll 8
    for (int i = 0; i < points; ++i) half[i][s] = column[i];
  }
#pragma GCC unroll 8
  for (int i = 0; i < points; ++i) to_points<filter_matrix<m>>(half[i], result + i * points);
}

/// Transforms the filters for the forward pass into [panel of out][plane][in][out of the panel], in
/// words along `in`.
template <typename Target, int m>
void transform_filters(const Conv3x3Shape& shape, const float* filters, float* result) {
  using Format = typename Target::Format;
  using Image = typename Format::Image;
  using Floats = typename Vector<Target::lanes>::Floats;
  constexpr int planes = (m + 2) * (m + 2);
  const std::int64_t in = shape.in_channels;
  for (std::int64_t k0 = 0; k0 < shape.out_channels; k0 += Target::panel) {
    float* panel = result + k0 * planes * words<Target>(in);
    for (std::int64_t c = 0; c < in; c += Target::lanes) {
      const std::int64_t count = smaller(Target::lanes, in - c);
      for (std::int64_t k = k0; k < smaller(k0 + Target::panel, shape.out_channels); ++k) {
        Floats values[planes];
        if (count == Target::lanes) {
          filter_to_points<Target, m, true, false>(filters + k * 9 * in + c, in, count, values);
        } else {
          filter_to_points<Target, m, false, false>(filters + k * 9 * in + c, in, count, values);
        }
        for (int plane = 0; plane < planes; ++plane) {
          float* place =
              panel + (plane * words<Target>(in) + words<Target>(c)) * Target::panel + (k - k0);
          const auto numbers = Format::narrowed(values[plane]);
          for (std::int64_t i = 0; i < rounded_up(count, Format::per_word); ++i) {
            auto* word = reinterpret_cast<Image*>(place + i / Format::per_word * Target::panel);
            word[i % Format::per_word] = static_cast<Image>(numbers[i]);
          }
        }
      }
    }
  }
}

/// For the gradient of the inputs, a convolution with the rotated filters from out to in channels:
/// into [panel of in][plane][out][in of the panel], in words along `out`.
template <typename Target, int m>
void transform_filters_rotated(const Conv3x3Shape& shape, const float* filters, float* result) {
  using Format = typename Target::Format;
  using Image = typename Format::Image;
  using Floats = typename Vector<Target::lanes>::Floats;
  constexpr int planes = (m + 2) * (m + 2);
  const std::int64_t in = shape.in_channels;
  const std::int64_t depth = words<Target>(shape.out_channels);
  for (std::int64_t k = 0; k < depth * Format::per_word; ++k) {
    for (std::int64_t c = 0; c < in; c += Target::lanes) {
      Floats values[planes] = {};
      const float* filter = filters + k * 9 * in + c;
      if (k >= shape.out_channels) {
        // The other half of a word.
      } else if (c + Target::lanes <= in) {
        filter_to_points<Target, m, true, true>(filter, in, in - c, values);
      } else {
        filter_to_points<Target, m, false, true>(filter, in, in - c, values);
      }
      float* panel = result + c / Target::panel * planes * depth * Target::panel;
      for (int plane = 0; plane < planes; ++plane) {
        auto* place = reinterpret_cast<Image*>(
            panel + (plane * depth + k / Format::per_word) * Target::panel + c % Target::panel);
        const auto numbers = Format::narrowed(values[plane]);
        if constexpr (Format::per_word == 1) {
          store(place, numbers);
        } else {
          for (int i = 0; i < Target::lanes; ++i) {
            place[i * Format::per_word + k % Format::per_word] = static_cast<Image>(numbers[i]);
          }
        }
      }
    }
  }
}

/// Gradients of the filters [out][3][3][in] from `parts` sums over tiles, each [plane][out][in]
/// with padded numbers of channels.
template <typename Target, int m>
void finish_filter_gradients(const Conv3x3Shape& shape, const float* sums, std::int64_t parts,
                             float* gradients) {
  using Floats = typename Vector<Target::lanes>::Floats;
  constexpr int points = m + 2;
  const std::int64_t in = shape.in_channels;
  const std::int64_t row = rounded_up(in, Target::panel);
  const std::int64_t plane = rounded_up(shape.out_channels, Target::rows) * row;
  for (std::int64_t k = 0; k < shape.out_channels; ++k) {
    for (std::int64_t c = 0; c < in; c += Target::lanes) {
      const float* place = sums + k * row + c;
      Floats half[3][points];
      for (int j = 0; j < points; ++j) {
        Floats column[points];
        Floats taps[3];
        for (int i = 0; i < points; ++i) {
          column[i] = Floats{};
          for (std::int64_t part = 0; part < parts; ++part) {
            column[i] += load<Floats>(place + ((part * points + i) * points + j) * plane);
          }
        }
        from_points<filter_matrix<m>>(column, taps);
        for (int r = 0; r < 3; ++r) half[r][j] = taps[r];
      }
      for (int r = 0; r < 3; ++r) {
        Floats taps[3];
        from_points<filter_matrix<m>>(half[r], taps);
        for (int s = 0; s < 3; ++s) {
          store(gradients + (k * 9 + r * 3 + s) * in + c, taps[s], in - c);
        }
      }
    }
  }
}

}  // namespace lockstep::kernels
