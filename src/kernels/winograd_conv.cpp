#include "lockstep/kernels/winograd_conv.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "lockstep/base/shares.hpp"

#include "kernels/winograd_kernels.hpp"

namespace lockstep {

namespace kernels {

std::vector<const WinogradKernels*> usable_kernels() {
  std::vector<const WinogradKernels*> result;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) result.push_back(avx512_kernels());
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    result.push_back(avx2_kernels());
  }
#endif
  std::erase(result, nullptr);
  return result;
}

}  // namespace kernels

const kernels::WinogradKernels* winograd_kernels() {
  const std::vector<const kernels::WinogradKernels*> usable = kernels::usable_kernels();
  return usable.empty() ? nullptr : usable.front();
}

/// Floats, aligned to a cache line.
class WinogradConv::Workspace {
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

WinogradConv::WinogradConv(const kernels::WinogradKernels& kernels)
    : kernels_(kernels),
      filters_(std::make_unique<Workspace>()),
      sums_(std::make_unique<Workspace>()),
      scratch_(std::make_unique<Workspace>()) {}

WinogradConv::~WinogradConv() = default;

void WinogradConv::run_on(int parts, ParallelFor parallel_for) {
  parts_ = parts;
  parallel_for_ = std::move(parallel_for);
}

std::string_view WinogradConv::instructions() const {
  return kernels_.name;
}

/// In parts of at least one strip each.
int WinogradConv::parts_of(std::int64_t strips) const {
  return static_cast<int>(std::min<std::int64_t>(parts_, strips));
}

void WinogradConv::run(int parts, const std::function<void(int)>& task) const {
  if (parts == 1) return task(0);
  parallel_for_(parts, task);
}

void WinogradConv::convolve(const Conv3x3Shape& shape, const kernels::WinogradSizes& sizes,
                            const float* x, const float* filters, float* y) {
  const int parts = parts_of(sizes.strips);
  float* const scratch = scratch_->of_size(parts * sizes.convolve_scratch);
  run(parts, [&](int part) {
    const Share strips = balanced_share(sizes.strips, part, parts);
    kernels_.convolve(shape, strips.start, strips.start + strips.count, x, filters, y,
                      scratch + part * sizes.convolve_scratch);
  });
}

void WinogradConv::forward(const Conv3x3Shape& shape, const float* x, const float* filters,
                           float* y) {
  const kernels::WinogradSizes sizes = kernels_.sizes(shape);
  float* const transformed = filters_->of_size(sizes.filters);
  kernels_.transform_filters(shape, filters, transformed);
  convolve(shape, sizes, x, transformed, y);
}

void WinogradConv::backward_data(const Conv3x3Shape& shape, const float* dy, const float* filters,
                                 float* dx) {
  Conv3x3Shape reversed = shape;
  std::swap(reversed.in_channels, reversed.out_channels);
  const kernels::WinogradSizes sizes = kernels_.sizes(reversed);
  float* const transformed = filters_->of_size(sizes.filters);
  kernels_.transform_filters_rotated(shape, filters, transformed);
  convolve(reversed, sizes, dy, transformed, dx);
}

void WinogradConv::backward_filters(const Conv3x3Shape& shape, const float* x, const float* dy,
                                    float* gradients) {
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

}  // namespace lockstep
