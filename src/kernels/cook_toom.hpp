#pragma once

#include "kernels/vector.hpp"

namespace lockstep::kernels {

/// The matrices of F(m, 3): m outputs of a correlation with 3 taps by m + 2 multiplications,
///   y = A^T [(G g) * (B^T d)],   * by element,
/// of m + 2 inputs d and a filter g. In two dimensions each is applied to rows and columns.
///
/// Cook-Toom: with n = m + 2 points, of which p_0 = 0, p_1 = -p_2, p_3 = -p_4, ... are finite and
/// the last is infinity,
///   A[i][k] = p_i^k,   G[i][k] = p_i^k / prod_{j != i} (p_i - p_j),
///   B^T[i][k] = the coefficient of x^k in prod_{j != i} (x - p_j),
/// and for infinity only the highest power counts in A and G, and B^T has the coefficients of the
/// product over all finite points. Sources: Lavin and Gray, 2016, Fast Algorithms for Convolutional
/// Neural Networks; Winograd, 1980, Arithmetic Complexity of Computations.
template <int rows_, int columns_>
struct Matrix {
  static constexpr int rows = rows_;
  static constexpr int columns = columns_;
  double values[rows][columns] = {};
};

/// Positive finite points; their negatives and 0 belong to them. For m = 4 these round three times
/// less than the usual 1 and 2: the products of their powers are nearer to 1.
template <int m>
struct Points;
template <>
struct Points<2> {
  static constexpr double positive[] = {1.0};
};
template <>
struct Points<4> {
  static constexpr double positive[] = {0.75, 1.5};
};

template <int m>
constexpr double finite_point(int i) {
  if (i == 0) return 0.0;
  return i % 2 == 1 ? Points<m>::positive[(i - 1) / 2] : -Points<m>::positive[(i - 1) / 2];
}

template <int m, int columns>
constexpr Matrix<m + 2, columns> powers_of_points() {
  Matrix<m + 2, columns> result;
  for (int i = 0; i <= m; ++i) {
    double power = 1.0;
    for (int k = 0; k < columns; ++k, power *= finite_point<m>(i)) result.values[i][k] = power;
  }
  result.values[m + 1][columns - 1] = 1.0;
  return result;
}

template <int m>
constexpr Matrix<m + 2, 3> filter_transform() {
  Matrix<m + 2, 3> result = powers_of_points<m, 3>();
  for (int i = 0; i <= m; ++i) {
    double divisor = 1.0;
    for (int j = 0; j <= m; ++j) {
      if (j != i) divisor *= finite_point<m>(i) - finite_point<m>(j);
    }
    for (double& value : result.values[i]) value /= divisor;
  }
  return result;
}

template <int m>
constexpr Matrix<m + 2, m + 2> data_transform() {
  Matrix<m + 2, m + 2> result;
  for (int i = 0; i < m + 2; ++i) {
    auto& coefficients = result.values[i];
    coefficients[0] = 1.0;
    for (int j = 0; j <= m; ++j) {
      if (j == i) continue;
      for (int k = m + 1; k >= 0; --k) {
        coefficients[k] =
            (k > 0 ? coefficients[k - 1] : 0.0) - finite_point<m>(j) * coefficients[k];
      }
    }
  }
  return result;
}

template <int m>
inline constexpr auto data_matrix = data_transform<m>();  ///< B^T, inputs to points
template <int m>
inline constexpr auto filter_matrix = filter_transform<m>();  ///< G, filters to points
template <int m>
inline constexpr auto output_matrix =
    powers_of_points<m, m>();  ///< A, whose transpose gives outputs

/// sum += matrix[row][column] * values[column], over every second column from `column` on.
template <const auto& matrix, int row, int column, int step, bool started, typename Floats>
LOCKSTEP_INLINE void add_terms(const Floats* values, Floats& sum) {
  if constexpr (column < matrix.columns) {
    constexpr double factor = matrix.values[row][column];
    if constexpr (factor == 0.0) {
      add_terms<matrix, row, column + step, step, started>(values, sum);
    } else {
      const Floats term = factor == 1.0 ? values[column] : values[column] * float(factor);
      sum = started ? sum + term : term;
      add_terms<matrix, row, column + step, step, true>(values, sum);
    }
  }
}

/// result = matrix values, of matrix.columns and matrix.rows elements. The rows of +p and -p
/// differ in the signs of odd columns alone, so their sums are shared.
template <const auto& matrix, int row = 0, typename Floats>
LOCKSTEP_INLINE void to_points(const Floats* values, Floats* result) {
  if constexpr (row == 0 || row == matrix.rows - 1) {
    result[row] = Floats{};
    add_terms<matrix, row, 0, 1, false>(values, result[row]);
    if constexpr (row == 0) to_points<matrix, 1>(values, result);
  } else {
    Floats even{};
    Floats odd{};
    add_terms<matrix, row, 0, 2, false>(values, even);
    add_terms<matrix, row, 1, 2, false>(values, odd);
    result[row] = even + odd;
    result[row + 1] = even - odd;
    to_points<matrix, row + 2>(values, result);
  }
}

/// sum += matrix[row][column] * values[...], over the pairs of points from `row` on.
template <const auto& matrix, int row, int column, typename Floats>
LOCKSTEP_INLINE void add_pairs(const Floats* sums, const Floats* differences, Floats& sum) {
  if constexpr (row + 1 < matrix.rows - 1) {
    constexpr auto factor = float(matrix.values[row][column]);
    const Floats value = (column % 2 == 0 ? sums : differences)[row / 2];
    sum += factor == 1.0F ? value : value * factor;
    add_pairs<matrix, row + 2, column>(sums, differences, sum);
  }
}

/// result = matrix^T values, of matrix.rows and matrix.columns elements.
template <const auto& matrix, int column = 0, typename Floats>
LOCKSTEP_INLINE void from_points_with(const Floats* values, const Floats* sums,
                                      const Floats* differences, Floats* result) {
  if constexpr (column < matrix.columns) {
    constexpr auto zero = float(matrix.values[0][column]);
    constexpr auto infinity = float(matrix.values[matrix.rows - 1][column]);
    Floats sum{};
    if constexpr (zero != 0.0F) sum += zero == 1.0F ? values[0] : values[0] * zero;
    if constexpr (infinity != 0.0F) sum += values[matrix.rows - 1];
    add_pairs<matrix, 1, column>(sums, differences, sum);
    result[column] = sum;
    from_points_with<matrix, column + 1>(values, sums, differences, result);
  }
}

template <const auto& matrix, typename Floats>
LOCKSTEP_INLINE void from_points(const Floats* values, Floats* result) {
  constexpr int pairs = matrix.rows / 2 - 1;
  Floats sums[pairs];
  Floats differences[pairs];
  for (int i = 0; i < pairs; ++i) {
    sums[i] = values[2 * i + 1] + values[2 * i + 2];
    differences[i] = values[2 * i + 1] - values[2 * i + 2];
  }
  from_points_with<matrix>(values, sums, differences, result);
}

}  // namespace lockstep::kernels
