#include "lockstep/kernels/winograd_conv.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "lockstep/kernels/openmp.hpp"

#include "unit/kernels/portable_kernels.hpp"

namespace lockstep {
namespace {

using kernels::WinogradKernels;

std::vector<float> normal_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

struct Arrays {
  std::vector<float> x;
  std::vector<float> filters;
  std::vector<float> dy;
};

Arrays arrays_for(const Conv3x3Shape& s, unsigned seed = 1) {
  const std::int64_t pixels = s.batch * s.height * s.width;
  return {.x = normal_values(pixels * s.in_channels, seed),
          .filters = normal_values(9 * s.in_channels * s.out_channels, seed + 1),
          .dy = normal_values(pixels * s.out_channels, seed + 2)};
}

struct Results {
  std::vector<double> y;
  std::vector<double> dx;
  std::vector<double> gradients;
};

// The definition: each output is a sum over taps and channels. In float64.
Results direct(const Conv3x3Shape& s, const Arrays& a) {
  Results r{.y = std::vector<double>(a.dy.size()),
            .dx = std::vector<double>(a.x.size()),
            .gradients = std::vector<double>(a.filters.size())};
  for (std::int64_t n = 0; n < s.batch; ++n) {
    for (std::int64_t at = 0; at < s.height * s.width * 9; ++at) {
      const std::int64_t tap = at % 9;
      const std::int64_t h = at / 9 / s.width;
      const std::int64_t w = at / 9 % s.width;
      const std::int64_t from_h = h + tap / 3 - 1;
      const std::int64_t from_w = w + tap % 3 - 1;
      if (from_h < 0 || from_h >= s.height || from_w < 0 || from_w >= s.width) continue;
      for (std::int64_t k = 0; k < s.out_channels; ++k) {
        for (std::int64_t c = 0; c < s.in_channels; ++c) {
          const auto in = static_cast<std::size_t>(
              ((n * s.height + from_h) * s.width + from_w) * s.in_channels + c);
          const auto out =
              static_cast<std::size_t>(((n * s.height + h) * s.width + w) * s.out_channels + k);
          const auto filter = static_cast<std::size_t>((k * 9 + tap) * s.in_channels + c);
          r.y[out] += double{a.x[in]} * double{a.filters[filter]};
          r.dx[in] += double{a.dy[out]} * double{a.filters[filter]};
          r.gradients[filter] += double{a.dy[out]} * double{a.x[in]};
        }
      }
    }
  }
  return r;
}

struct FloatResults {
  std::vector<float> y;
  std::vector<float> dx;
  std::vector<float> gradients;
};

FloatResults by_winograd(WinogradConv& conv, const Conv3x3Shape& s, const Arrays& a) {
  // What is not written stays NaN and fails.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  FloatResults r{.y = std::vector<float>(a.dy.size(), nan),
                 .dx = std::vector<float>(a.x.size(), nan),
                 .gradients = std::vector<float>(a.filters.size(), nan)};
  conv.forward(s, a.x.data(), a.filters.data(), r.y.data());
  conv.backward_data(s, a.dy.data(), a.filters.data(), r.dx.data());
  conv.backward_filters(s, a.x.data(), a.dy.data(), r.gradients.data());
  return r;
}

double relative_error(const std::vector<float>& values, const std::vector<double>& expected) {
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = double{values[i]} - expected[i];
    error += difference * difference;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(error / norm);
}

void run_backwards_on_threads(int parts, const std::function<void(int)>& task) {
  std::vector<std::jthread> threads;
  for (int part = parts - 1; part >= 0; --part) threads.emplace_back(task, part);
}

class Winograd : public testing::TestWithParam<const WinogradKernels*> {
 protected:
  const WinogradKernels& kernels() const { return *GetParam(); }
};

std::vector<const WinogradKernels*> all_kernels() {
  std::vector<const WinogradKernels*> result = kernels::usable_kernels();
  result.push_back(kernels::portable_kernels());
  result.push_back(kernels::portable_small_kernels());
  return result;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Winograd, testing::ValuesIn(all_kernels()), [](const auto& p) {
  std::string name;
  for (const char* c = p.param->name; *c != '\0'; ++c) {
    if (std::isalnum(static_cast<unsigned char>(*c)) != 0) name += *c;
  }
  return name;
});

// At these sizes F(4x4, 3x3) was seen to err by up to 9e-7, LibTorch's direct kernels by 3e-7.
constexpr double tolerance = 2e-6;

// One object for all, so that workspaces are reused across shapes.
TEST_P(Winograd, AgreesWithTheDefinitionInAllShapes) {
  WinogradConv conv(kernels());
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes{{1, 1}, {2, 3}, {4, 4}, {5, 7},
                                                                 {1, 9}, {8, 8}, {13, 2}};
  const std::vector<std::pair<std::int64_t, std::int64_t>> channels{
      {1, 1}, {3, 8}, {7, 5}, {16, 16}, {17, 33}, {70, 20}, {12, 65}, {64, 70}};
  std::int64_t batch = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // Every other one, since nothing depends on size and channels together.
    for (std::size_t j = i % 2; j < channels.size(); j += 2) {
      const auto [height, width] = sizes[i];
      const auto [in, out] = channels[j];
      batch = batch % 5 + 1;
      const Conv3x3Shape shape{batch, height, width, in, out};
      SCOPED_TRACE(
          testing::PrintToString(std::vector<std::int64_t>{batch, height, width, in, out}));
      const Arrays arrays = arrays_for(shape);
      const Results expected = direct(shape, arrays);
      const FloatResults results = by_winograd(conv, shape, arrays);
      EXPECT_LT(relative_error(results.y, expected.y), tolerance);
      EXPECT_LT(relative_error(results.dx, expected.dx), tolerance);
      EXPECT_LT(relative_error(results.gradients, expected.gradients), tolerance);
    }
  }
}

// Sums over many tiles keep their accuracy: several blocks, in one running sum each.
TEST_P(Winograd, SumsFilterGradientsOverManyTiles) {
  const Conv3x3Shape shape{4, 64, 60, 4, 6};
  const Arrays arrays = arrays_for(shape);
  WinogradConv conv(kernels());
  EXPECT_LT(
      relative_error(by_winograd(conv, shape, arrays).gradients, direct(shape, arrays).gradients),
      tolerance);
}

TEST_P(Winograd, GivesTheSameBitsOnEqualNumbersOfThreads) {
  const Conv3x3Shape shape{3, 9, 6, 20, 18};
  const Arrays arrays = arrays_for(shape);
  WinogradConv serial(kernels());
  const FloatResults alone = by_winograd(serial, shape, arrays);
  WinogradConv conv(kernels());
  for (const int parts : {2, 3, 40}) {
    conv.run_on(parts, run_backwards_on_threads);
    const FloatResults first = by_winograd(conv, shape, arrays);
    const FloatResults second = by_winograd(conv, shape, arrays);
    EXPECT_EQ(first.gradients, second.gradients);
    // Outputs do not depend on how a batch is cut at all.
    EXPECT_EQ(first.y, alone.y);
    EXPECT_EQ(first.dx, alone.dx);
    EXPECT_LT(relative_error(first.gradients, direct(shape, arrays).gradients), tolerance);
  }
}

TEST_P(Winograd, RunsOnThreadsOfOpenMp) {
  const Conv3x3Shape shape{2, 12, 12, 16, 16};
  const Arrays arrays = arrays_for(shape);
  WinogradConv conv(kernels());
  conv.run_on(3, run_on_openmp);
  const FloatResults results = by_winograd(conv, shape, arrays);
  EXPECT_LT(relative_error(results.y, direct(shape, arrays).y), tolerance);
}

// A step whose gradient is not finite is skipped: it must be seen here, and not in the next.
TEST_P(Winograd, PassesOnWhatIsNotFiniteAndForgetsIt) {
  const Conv3x3Shape shape{2, 6, 6, 9, 7};
  WinogradConv conv(kernels());
  const Arrays good = arrays_for(shape);
  const FloatResults before = by_winograd(conv, shape, good);
  Arrays bad = good;
  bad.x[100] = std::numeric_limits<float>::quiet_NaN();
  bad.dy[50] = std::numeric_limits<float>::infinity();
  const FloatResults results = by_winograd(conv, shape, bad);
  const auto finite = [](float value) { return std::isfinite(value); };
  EXPECT_FALSE(std::ranges::all_of(results.y, finite));
  EXPECT_FALSE(std::ranges::all_of(results.dx, finite));
  EXPECT_FALSE(std::ranges::all_of(results.gradients, finite));
  const FloatResults after = by_winograd(conv, shape, good);
  EXPECT_EQ(after.y, before.y);
  EXPECT_EQ(after.dx, before.dx);
  EXPECT_EQ(after.gradients, before.gradients);
}

TEST(WinogradKernels, AreTheFastestThatTheCpuHas) {
  const auto usable = kernels::usable_kernels();
  EXPECT_EQ(winograd_kernels(), usable.empty() ? nullptr : usable.front());
#if defined(__x86_64__)
  EXPECT_EQ(usable.empty(),
            __builtin_cpu_supports("avx512f") == 0 &&
                (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0));
#endif
}

}  // namespace
}  // namespace lockstep
