#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace lockstep {

/// A 3x3 convolution with stride 1 and one pixel of zeros around each image, so that outputs are as
/// large as inputs. All numbers are at least 1.
struct Conv3x3Shape {
  std::int64_t batch = 1;
  std::int64_t height = 1;  ///< pixels
  std::int64_t width = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
};

/// Calls task(0) to task(parts - 1) once each, on any threads, and returns when all have returned.
using ParallelFor = std::function<void(int parts, const std::function<void(int part)>& task)>;

/// The bits of a bfloat16: the upper half of a float's.
enum class BFloat16 : std::uint16_t {};

/// How many outputs are computed together in each direction.
enum class WinogradTile : std::int8_t {
  two = 2,   ///< F(2x2, 3x3): 4/9 of the direct convolution's multiplications
  four = 4,  ///< F(4x4, 3x3): a quarter of them
};

namespace kernels {
template <typename Image>
struct WinogradKernels;
struct WinogradSizes;
}  // namespace kernels

/// The kernels for this CPU, for images of float or BFloat16. nullptr where there are none, float's
/// with tiles of two, or it has no instructions for them: AVX-512F or AVX2 with FMA for float,
/// AVX-512 BF16 for BFloat16.
template <typename Image>
const kernels::WinogradKernels<Image>* winograd_kernels(WinogradTile tile);

/// Winograd's convolution of images of float or BFloat16. Source: Lavin and Gray, 2016, Fast
/// Algorithms for Convolutional Neural Networks. Points: for tiles of two 0, +-1, infinity; for
/// tiles of four 0, +-3/4, +-3/2, infinity.
///
/// float: two to three times the direct convolution's rounding errors (1e-6 of the result's norm at
/// 128 channels, against 4e-7). BFloat16: transforms and sums are in float32, the factors are
/// rounded to bfloat16. Filters and their gradients are float32 for both.
///
/// Arrays are dense: images and their gradients [batch][height][width][channels] (NHWC), filters
/// and their gradients [out][3][3][in], which are LibTorch's channels-last layouts. Results are
/// bitwise equal for equal `parts`. Keeps its workspace from call to call, and lets it grow. One
/// thread at a time.
template <typename Image>
class WinogradConv {
 public:
  explicit WinogradConv(const kernels::WinogradKernels<Image>& kernels);
  ~WinogradConv();
  WinogradConv(const WinogradConv&) = delete;
  WinogradConv& operator=(const WinogradConv&) = delete;

  /// Cuts the work into so many parts at most from now on (1 and serially before the first call).
  void run_on(int parts, ParallelFor parallel_for);

  /// Its algorithm and the instructions it uses, for people.
  std::string_view name() const;

  /// y = x * filters.
  void forward(const Conv3x3Shape& shape, const Image* x, const float* filters, Image* y);
  /// dx: the gradient of the inputs, from `dy`, that of the outputs.
  void backward_data(const Conv3x3Shape& shape, const Image* dy, const float* filters, Image* dx);
  /// The gradient of the filters.
  void backward_filters(const Conv3x3Shape& shape, const Image* x, const Image* dy,
                        float* gradients);

 private:
  class Workspace;

  void run(int parts, const std::function<void(int)>& task) const;
  void convolve(const Conv3x3Shape& shape, const kernels::WinogradSizes& sizes, const Image* x,
                const float* filters, Image* y);
  int parts_of(std::int64_t strips) const;

  const kernels::WinogradKernels<Image>& kernels_;
  std::unique_ptr<Workspace> filters_;
  std::unique_ptr<Workspace> sums_;
  std::unique_ptr<Workspace> scratch_;
  int parts_ = 1;
  ParallelFor parallel_for_;
};

}  // namespace lockstep
