#include "lockstep/optim/gradient_norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/scalar_tensor.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"
#include "lockstep/base/shares.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t chunk_elements = 1 << 15;

template <typename T>
double sum_of_squares(std::span<const T> elements) {
  std::array<double, 8> lanes{};  // independent sums, which the compiler keeps in vectors
  std::size_t i = 0;
  for (; i + lanes.size() <= elements.size(); i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const auto value = static_cast<double>(elements[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (; i < elements.size(); ++i) {
    const auto value = static_cast<double>(elements[i]);
    lanes[0] += value * value;
  }
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

template <typename T>
double norm_of(const at::Tensor& flat) {
  const std::span<const T> elements(flat.const_data_ptr<T>(), narrow<std::size_t>(flat.numel()));
  const std::int64_t chunks = ceil_div(flat.numel(), chunk_elements);
  std::vector<double> sums(narrow<std::size_t>(chunks));
  at::parallel_for(0, chunks, /*grain_size=*/1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      const std::int64_t first = chunk * chunk_elements;
      const std::int64_t count = std::min(chunk_elements, flat.numel() - first);
      sums[static_cast<std::size_t>(chunk)] = sum_of_squares(
          elements.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    }
  });
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace

at::Tensor l2_norm(const at::Tensor& flat) {
  check(flat.dim() == 1 && flat.is_contiguous(), "take a gradient's norm", "it is not flat");
  const bool is_float = flat.scalar_type() == at::kFloat;
  if (!is_float && flat.scalar_type() != at::kDouble) {
    throw Error("take a gradient's norm", "it is neither float32 nor float64");
  }
  if (!flat.is_cpu()) return at::linalg_vector_norm(flat, 2, {}, false, at::kDouble);
  return at::scalar_tensor(is_float ? norm_of<float>(flat) : norm_of<double>(flat), at::kDouble);
}

at::Tensor clip_factor(const at::Tensor& norm, double max_norm) {
  return at::full_like(norm, max_norm).div(norm.add(1e-6)).clamp_max(1.0);
}

}  // namespace lockstep
