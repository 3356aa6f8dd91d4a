#pragma once

#include "kernels/vector.hpp"

namespace lockstep::kernels {

/// Element (row, depth) of a matrix of words in memory (number.hpp).
struct Strided {
  const float* first;
  std::int64_t row;
  std::int64_t depth;
};

/// out (+)= a b, in words of `depth`, for Target::rows rows and Target::panel columns, kept in
/// registers over all of `depth`. Row d of `b` begins at b + d * b_depth, row i of `out` at out + i
/// * out_row.
template <typename Target, bool add>
inline void multiply_tile(const Strided& a, const float* b, std::int64_t b_depth,
                          std::int64_t depth, float* out, std::int64_t out_row) {
  using Floats = typename Vector<Target::lanes>::Floats;
  constexpr int rows = Target::rows;
  constexpr int vectors = Target::vectors;
  Floats sums[rows][vectors] = {};
  for (std::int64_t d = 0; d < depth; ++d) {
    Floats right[vectors];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      right[j] = load<Floats>(b + d * b_depth + j * Target::lanes);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const Floats left = Target::repeated(a.first + i * a.row + d * a.depth);
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) Target::add_product(left, right[j], sums[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      float* place = out + i * out_row + j * Target::lanes;
      store(place, add ? load<Floats>(place) + sums[i][j] : sums[i][j]);
    }
  }
}

}  // namespace lockstep::kernels
