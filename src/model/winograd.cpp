#include "model/winograd.hpp"

#include <type_traits>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "lockstep/base/error.hpp"
#include "lockstep/kernels/openmp.hpp"

namespace lockstep {
namespace {

using torch::autograd::variable_list;

at::Tensor channels_last(const at::Tensor& tensor) {
  return tensor.contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor empty_channels_last(at::IntArrayRef sizes, const at::Tensor& alike) {
  return at::empty(sizes, alike.options().requires_grad(false), at::MemoryFormat::ChannelsLast);
}

Conv3x3Shape shape_of(const at::Tensor& x, const at::Tensor& weight) {
  return {.batch = x.size(0),
          .height = x.size(2),
          .width = x.size(3),
          .in_channels = weight.size(1),
          .out_channels = weight.size(0)};
}

template <typename Image>
const Image* input(const at::Tensor& tensor) {
  return static_cast<const Image*>(tensor.const_data_ptr());
}

template <typename Image>
Image* output(const at::Tensor& tensor) {
  return static_cast<Image*>(tensor.mutable_data_ptr());
}

/// Ready to run on LibTorch's threads.
template <typename Image>
WinogradConv<Image>& ready(const WinogradConvs& convs) {
  WinogradConv<Image>* conv = nullptr;
  if constexpr (std::is_same_v<Image, float>) {
    conv = convs.float32.get();
  } else {
    conv = convs.bfloat16.get();
  }
  conv->run_on(at::get_num_threads(), run_on_openmp);
  return *conv;
}

/// The node of the graph that computes the gradients.
template <typename Image>
class WinogradBackward : public torch::autograd::Node {
 public:
  WinogradBackward(std::shared_ptr<WinogradConvs> convs, const at::Tensor& x,
                   const at::Tensor& weight)
      : convs_(std::move(convs)),
        x_(x, /*is_output=*/false),
        weight_(weight, /*is_output=*/false) {}

  variable_list apply(variable_list&& gradients) override {
    if (at::GradMode::is_enabled()) {
      throw Error("differentiate the gradients of a Winograd convolution",
                  "that is not implemented", "use --conv_algorithm direct");
    }
    variable_list result(2);
    if (!gradients[0].defined()) return result;
    const at::Tensor x = x_.unpack();
    const at::Tensor weight = weight_.unpack();
    const at::Tensor dy = channels_last(gradients[0]);
    const Conv3x3Shape shape = shape_of(x, weight);
    WinogradConv<Image>& conv = ready<Image>(*convs_);
    if (task_should_compute_output(0)) {
      result[0] = empty_channels_last(x.sizes(), x);
      conv.backward_data(shape, input<Image>(dy), input<float>(weight), output<Image>(result[0]));
    }
    if (task_should_compute_output(1)) {
      result[1] = empty_channels_last(weight.sizes(), weight);
      conv.backward_filters(shape, input<Image>(x), input<Image>(dy), output<float>(result[1]));
    }
    return result;
  }

  std::string name() const override { return "WinogradConvBackward"; }

  void release_variables() override {
    x_.reset_data();
    weight_.reset_data();
  }

 private:
  std::shared_ptr<WinogradConvs> convs_;
  torch::autograd::SavedVariable x_;
  torch::autograd::SavedVariable weight_;
};

/// `x` holds Images.
template <typename Image>
at::Tensor convolve(const std::shared_ptr<WinogradConvs>& convs, const at::Tensor& x,
                    const at::Tensor& weight) {
  const bool differentiable = torch::autograd::compute_requires_grad(x, weight);
  at::Tensor y;
  std::shared_ptr<torch::autograd::Node> backward;
  {
    const at::NoGradGuard no_gradients;
    const at::Tensor images = channels_last(x);
    const at::Tensor filters = channels_last(weight);
    y = empty_channels_last({x.size(0), weight.size(0), x.size(2), x.size(3)}, x);
    ready<Image>(*convs).forward(shape_of(x, weight), input<Image>(images), input<float>(filters),
                                 output<Image>(y));
    if (!differentiable) return y;
    backward = {new WinogradBackward<Image>(convs, images, filters), torch::autograd::deleteNode};
  }
  backward->set_next_edges(torch::autograd::collect_next_edges(x, weight));
  torch::autograd::set_history(y, backward);
  return y;
}

at::ScalarType computed_in(const at::Tensor& x) {
  return at::autocast::is_autocast_enabled(at::kCPU) ? at::autocast::get_autocast_dtype(at::kCPU)
                                                     : x.scalar_type();
}

template <typename Image>
std::unique_ptr<WinogradConv<Image>> make_conv(WinogradTile tile) {
  const auto* kernels = winograd_kernels<Image>(tile);
  return kernels == nullptr ? nullptr : std::make_unique<WinogradConv<Image>>(*kernels);
}

}  // namespace

std::shared_ptr<WinogradConvs> make_winograd(ConvAlgorithm algorithm) {
  if (algorithm == ConvAlgorithm::direct) return nullptr;
  if (algorithm == ConvAlgorithm::automatic && at::get_num_threads() > most_threads_by_default) {
    return nullptr;
  }
  auto convs = std::make_shared<WinogradConvs>();
  convs->float32 = make_conv<float>(WinogradTile::four);
  if (algorithm != ConvAlgorithm::automatic) {
    convs->bfloat16 = make_conv<BFloat16>(
        algorithm == ConvAlgorithm::winograd_fast ? WinogradTile::four : WinogradTile::two);
  }
  return convs;
}

bool takes_winograd(const WinogradConvs& convs, const at::Tensor& x, const at::Tensor& weight) {
  if (!x.is_cpu() || !weight.is_cpu() || weight.scalar_type() != at::kFloat) return false;
  const at::ScalarType type = computed_in(x);
  return (type == at::kFloat && convs.float32) || (type == at::kBFloat16 && convs.bfloat16);
}

at::Tensor winograd_conv2d(const std::shared_ptr<WinogradConvs>& convs, const at::Tensor& x,
                           const at::Tensor& weight) {
  const at::ScalarType type = computed_in(x);
  const at::Tensor images = x.to(type);
  return type == at::kFloat ? convolve<float>(convs, images, weight)
                            : convolve<BFloat16>(convs, images, weight);
}

}  // namespace lockstep
