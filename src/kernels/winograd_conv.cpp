#include "lockstep/kernels/winograd_conv.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "lockstep/base/shares.hpp"

#include "kernels/winograd_kernels.hpp"

namespace lockstep {

namespace kernels {

template <>
std::vector<const WinogradKernels<float>*> usable_kernels() {
  std::vector<const WinogradKernels<float>*> result;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) result.push_back(avx512_kernels());
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    result.push_back(avx2_kernels());
  }
#endif
  std::erase(result, nullptr);
  return result;
}

template <>
std::vector<const WinogradKernels<BFloat16>*> usable_kernels() {
  std::vector<const WinogradKernels<BFloat16>*> result;
#if defined(__x86_64__)
  // Those that the compiler was allowed to use in that file; they come together.
  if (__builtin_cpu_supports("avx512bf16") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0) {
    result.push_back(avx512_bf16_kernels());
    result.push_back(avx512_bf16_fast_kernels());
  }
#endif
  std::erase(result, nullptr);
  return result;
}

}  // namespace kernels

template <typename Image>
const kernels::WinogradKernels<Image>* winograd_kernels(WinogradTile tile) {
  for (const auto* kernels : kernels::usable_kernels<Image>()) {
    if (kernels->tile == tile) return kernels;
  }
  return nullptr;
}

/// Words, aligned to a cache line.
template <typename Image>
class WinogradConv<Image>::Workspace {
 public:
  float* of_size(std::int64_t floats) {
    if (floats > size_) {
      const auto bytes = static_cast<std::size_t>(floats) * sizeof(float);
      data_.reset();
      size_ = 0;
      data_.reset(static_cast<float*>(::operator new(bytes, line)));
      // Elements that only fill up a register are multiplied too, and then left out.
      std::memset(data_.get(), 0, bytes);
      size_ = floats;
    }
    return data_.get();
  }

 private:
  static constexpr std::align_val_t line{64};
  struct Release {
    void operator()(float* data) const { ::operator delete(data, line); }
  };
  std::unique_ptr<float, Release> data_;
  std::int64_t size_ = 0;
};

template <typename Image>
WinogradConv<Image>::WinogradConv(const kernels::WinogradKernels<Image>& kernels)
    : kernels_(kernels),
      filters_(std::make_unique<Workspace>()),
      sums_(std::make_unique<Workspace>()),
      scratch_(std::make_unique<Workspace>()) {}

template <typename Image>
WinogradConv<Image>::~WinogradConv() = default;

template <typename Image>
void WinogradConv<Image>::run_on(int parts, ParallelFor parallel_for) {
  parts_ = parts;
  parallel_for_ = std::move(parallel_for);
}

template <typename Image>
std::string_view WinogradConv<Image>::name() const {
  return kernels_.name;
}

/// In parts of at least one strip each.
template <typename Image>
int WinogradConv<Image>::parts_of(std::int64_t strips) const {
  return static_cast<int>(std::min<std::int64_t>(parts_, strips));
}

template <typename Image>
void WinogradConv<Image>::run(int parts, const std::function<void(int)>& task) const {
  if (parts == 1) return task(0);
  parallel_for_(parts, task);
}

template <typename Image>
void WinogradConv<Image>::convolve(const Conv3x3Shape& shape, const kernels::WinogradSizes& sizes,
                                   const Image* x, const float* filters, Image* y) {
  const int parts = parts_of(sizes.strips);
  float* const scratch = scratch_->of_size(parts * sizes.convolve_scratch);
  run(parts, [&](int part) {
    const Share strips = balanced_share(sizes.strips, part, parts);
    kernels_.convolve(shape, strips.start, strips.start + strips.count, x, filters, y,
                      scratch + part * sizes.convolve_scratch);
  });
}

template <typename Image>
void WinogradConv<Image>::forward(const Conv3x3Shape& shape, const Image* x, const float* filters,
                                  Image* y) {
  const kernels::WinogradSizes sizes = kernels_.sizes(shape);
  float* const transformed = filters_->of_size(sizes.filters);
  kernels_.transform_filters(shape, filters, transformed);
  convolve(shape, sizes, x, transformed, y);
}

template <typename Image>
void WinogradConv<Image>::backward_data(const Conv3x3Shape& shape, const Image* dy,
                                        const float* filters, Image* dx) {
  Conv3x3Shape reversed = shape;
  std::swap(reversed.in_channels, reversed.out_channels);
  const kernels::WinogradSizes sizes = kernels_.sizes(reversed);
  float* const transformed = filters_->of_size(sizes.filters);
  kernels_.transform_filters_rotated(shape, filters, transformed);
  convolve(reversed, sizes, dy, transformed, dx);
}

template <typename Image>
void WinogradConv<Image>::backward_filters(const Conv3x3Shape& shape, const Image* x,
                                           const Image* dy, float* gradients) {
  const kernels::WinogradSizes sizes = kernels_.sizes(shape);
  const int parts = parts_of(sizes.strips);
  float* const sums = sums_->of_size(parts * sizes.sums);
  float* const scratch = scratch_->of_size(parts * sizes.correlate_scratch);
  run(parts, [&](int part) {
    const Share strips = balanced_share(sizes.strips, part, parts);
    kernels_.correlate(shape, strips.start, strips.start + strips.count, x, dy,
                       sums + part * sizes.sums, scratch + part * sizes.correlate_scratch);
  });
  kernels_.finish_filter_gradients(shape, sums, parts, gradients);
}

template const kernels::WinogradKernels<float>* winograd_kernels(WinogradTile);
template const kernels::WinogradKernels<BFloat16>* winograd_kernels(WinogradTile);
template class WinogradConv<float>;
template class WinogradConv<BFloat16>;

}  // namespace lockstep
