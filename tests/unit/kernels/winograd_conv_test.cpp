#include "lockstep/kernels/winograd_conv.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <thread>
#include <type_traits>

#include <gtest/gtest.h>

#include "lockstep/kernels/openmp.hpp"

#include "unit/kernels/portable_kernels.hpp"

namespace lockstep {
namespace {

/// Exact in bfloat16, so that kernels for it and for float see the same.
std::vector<float> short_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(normal(generator)) & 0xffff0000U);
  }
  return values;
}

struct Arrays {
  std::vector<float> x;
  std::vector<float> filters;
  std::vector<float> dy;
};

Arrays arrays_for(const Conv3x3Shape& s, unsigned seed = 1) {
  const std::int64_t pixels = s.batch * s.height * s.width;
  return {.x = short_values(pixels * s.in_channels, seed),
          .filters = short_values(9 * s.in_channels * s.out_channels, seed + 1),
          .dy = short_values(pixels * s.out_channels, seed + 2)};
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

template <typename Image>
std::vector<Image> as_images(const std::vector<float>& values) {
  if constexpr (std::is_same_v<Image, float>) {
    return values;
  } else {
    std::vector<Image> result;
    for (const float value : values) {
      result.push_back(static_cast<Image>(std::bit_cast<std::uint32_t>(value) >> 16));
    }
    return result;
  }
}

template <typename Image>
std::vector<float> as_floats(const std::vector<Image>& values) {
  if constexpr (std::is_same_v<Image, float>) {
    return values;
  } else {
    std::vector<float> result;
    for (const Image value : values) {
      result.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16));
    }
    return result;
  }
}

/// The three passes behind one interface for all kinds of images.
class Passes {
 public:
  virtual ~Passes() = default;
  virtual void run_on(int parts, ParallelFor parallel_for) = 0;
  virtual FloatResults run(const Conv3x3Shape& s, const Arrays& a) = 0;
};

template <typename Image>
class PassesOf : public Passes {
 public:
  explicit PassesOf(const kernels::WinogradKernels<Image>& kernels) : conv_(kernels) {}

  void run_on(int parts, ParallelFor parallel_for) override {
    conv_.run_on(parts, std::move(parallel_for));
  }

  FloatResults run(const Conv3x3Shape& s, const Arrays& a) override {
    // What is not written stays NaN and fails.
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Image> x = as_images<Image>(a.x);
    const std::vector<Image> dy = as_images<Image>(a.dy);
    std::vector<Image> y = as_images<Image>(std::vector<float>(a.dy.size(), nan));
    std::vector<Image> dx = as_images<Image>(std::vector<float>(a.x.size(), nan));
    FloatResults r{.y = {}, .dx = {}, .gradients = std::vector<float>(a.filters.size(), nan)};
    conv_.forward(s, x.data(), a.filters.data(), y.data());
    conv_.backward_data(s, dy.data(), a.filters.data(), dx.data());
    conv_.backward_filters(s, x.data(), dy.data(), r.gradients.data());
    r.y = as_floats(y);
    r.dx = as_floats(dx);
    return r;
  }

 private:
  WinogradConv<Image> conv_;
};

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

struct Subject {
  std::string name;
  double tolerance;  ///< of the relative error of any result, in the Euclidean norm
  std::function<std::unique_ptr<Passes>()> make;
};

// GoogleTest looks for this name.
void PrintTo(const Subject& subject,  // NOLINT(readability-identifier-naming)
             std::ostream* stream) {
  *stream << subject.name;
}

template <typename Image>
Subject subject(const kernels::WinogradKernels<Image>* kernels, double tolerance) {
  std::string name;
  for (const char c : std::string_view(kernels->name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  }
  return {name, tolerance, [kernels] { return std::make_unique<PassesOf<Image>>(*kernels); }};
}

std::vector<Subject> subjects() {
  // At these sizes F(4x4, 3x3) was seen to err by up to 9e-7, LibTorch's direct kernels by 3e-7; in
  // bfloat16 F(2x2, 3x3) by 4.2e-3 in the median and 8.3e-3 at most, F(4x4, 3x3) by 1.1e-2 and
  // 2.6e-2, LibTorch's by 2.4e-3.
  constexpr double in_float = 2e-6;
  const auto in_bfloat16 = [](const auto* kernels) {
    return kernels->tile == WinogradTile::two ? 1e-2 : 3.5e-2;
  };
  std::vector<Subject> result;
  for (const auto* kernels : kernels::usable_kernels<float>()) {
    result.push_back(subject(kernels, in_float));
  }
  for (const auto* kernels : kernels::usable_kernels<BFloat16>()) {
    result.push_back(subject(kernels, in_bfloat16(kernels)));
  }
  result.push_back(subject(kernels::portable_kernels(), in_float));
  result.push_back(subject(kernels::portable_small_kernels(), in_float));
  for (const auto* kernels :
       {kernels::portable_bfloat16_kernels(), kernels::portable_bfloat16_fast_kernels()}) {
    result.push_back(subject(kernels, in_bfloat16(kernels)));
  }
  return result;
}

class Winograd : public testing::TestWithParam<Subject> {
 protected:
  std::unique_ptr<Passes> conv_ = GetParam().make();
  const double tolerance_ = GetParam().tolerance;
};

INSTANTIATE_TEST_SUITE_P(Kernels, Winograd, testing::ValuesIn(subjects()),
                         [](const auto& test) { return test.param.name; });

// One object for all, so that workspaces are reused across shapes.
TEST_P(Winograd, AgreesWithTheDefinitionInAllShapes) {
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
      const FloatResults results = conv_->run(shape, arrays);
      EXPECT_LT(relative_error(results.y, expected.y), tolerance_);
      EXPECT_LT(relative_error(results.dx, expected.dx), tolerance_);
      EXPECT_LT(relative_error(results.gradients, expected.gradients), tolerance_);
    }
  }
}

// Sums over many tiles keep their accuracy: several blocks, in one running sum each.
TEST_P(Winograd, SumsFilterGradientsOverManyTiles) {
  const Conv3x3Shape shape{4, 64, 60, 4, 6};
  const Arrays arrays = arrays_for(shape);
  EXPECT_LT(relative_error(conv_->run(shape, arrays).gradients, direct(shape, arrays).gradients),
            tolerance_);
}

TEST_P(Winograd, GivesTheSameBitsOnEqualNumbersOfThreads) {
  const Conv3x3Shape shape{3, 9, 6, 20, 18};
  const Arrays arrays = arrays_for(shape);
  const FloatResults alone = conv_->run(shape, arrays);
  for (const int parts : {2, 3, 40}) {
    conv_->run_on(parts, run_backwards_on_threads);
    const FloatResults first = conv_->run(shape, arrays);
    const FloatResults second = conv_->run(shape, arrays);
    EXPECT_EQ(first.gradients, second.gradients);
    // Outputs do not depend on how a batch is cut at all.
    EXPECT_EQ(first.y, alone.y);
    EXPECT_EQ(first.dx, alone.dx);
    EXPECT_LT(relative_error(first.gradients, direct(shape, arrays).gradients), tolerance_);
  }
}

TEST_P(Winograd, RunsOnThreadsOfOpenMp) {
  const Conv3x3Shape shape{2, 12, 12, 16, 16};
  const Arrays arrays = arrays_for(shape);
  conv_->run_on(3, run_on_openmp);
  const FloatResults results = conv_->run(shape, arrays);
  EXPECT_LT(relative_error(results.y, direct(shape, arrays).y), tolerance_);
}

// A step whose gradient is not finite is skipped: it must be seen here, and not in the next.
TEST_P(Winograd, PassesOnWhatIsNotFiniteAndForgetsIt) {
  const Conv3x3Shape shape{2, 6, 6, 9, 7};
  const Arrays good = arrays_for(shape);
  const FloatResults before = conv_->run(shape, good);
  Arrays bad = good;
  bad.x[100] = std::numeric_limits<float>::quiet_NaN();
  bad.dy[50] = std::numeric_limits<float>::infinity();
  const FloatResults results = conv_->run(shape, bad);
  const auto finite = [](float value) { return std::isfinite(value); };
  EXPECT_FALSE(std::ranges::all_of(results.y, finite));
  EXPECT_FALSE(std::ranges::all_of(results.dx, finite));
  EXPECT_FALSE(std::ranges::all_of(results.gradients, finite));
  const FloatResults after = conv_->run(shape, good);
  EXPECT_EQ(after.y, before.y);
  EXPECT_EQ(after.dx, before.dx);
  EXPECT_EQ(after.gradients, before.gradients);
}

TEST(WinogradKernels, AreTheFastestThatTheCpuHas) {
  const auto usable = kernels::usable_kernels<float>();
  EXPECT_EQ(winograd_kernels<float>(WinogradTile::four), usable.empty() ? nullptr : usable.front());
  EXPECT_EQ(winograd_kernels<float>(WinogradTile::two), nullptr);
#if defined(__x86_64__)
  EXPECT_EQ(usable.empty(),
            __builtin_cpu_supports("avx512f") == 0 &&
                (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0));
  for (const WinogradTile tile : {WinogradTile::two, WinogradTile::four}) {
    const auto* kernels = winograd_kernels<BFloat16>(tile);
    ASSERT_EQ(kernels == nullptr, __builtin_cpu_supports("avx512bf16") == 0);
    if (kernels != nullptr) {
      EXPECT_EQ(kernels->tile, tile);
    }
  }
#endif
}

}  // namespace
}  // namespace lockstep
