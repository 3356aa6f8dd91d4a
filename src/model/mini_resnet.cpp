#include "lockstep/model/mini_resnet.hpp"

#include <map>
#include <optional>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/adaptive_avg_pool2d.h>

#include "model/layers.hpp"
#include "model/winograd.hpp"

namespace lockstep {
namespace {

// He et al., 2015, figure 2: two 3x3 convolutions and a shortcut around them.
class BasicBlock {
 public:
  BasicBlock(NetworkBuild& build, const NormFactory& norm, const std::string& name,
             std::int64_t in_channels, std::int64_t out_channels, std::int64_t stride)
      : conv1_(build, name + ".conv1", in_channels, out_channels, 3, stride),
        norm1_(norm(build.tensors, name + ".norm1", out_channels)),
        conv2_(build, name + ".conv2", out_channels, out_channels, 3, 1),
        norm2_(norm(build.tensors, name + ".norm2", out_channels)) {
    if (stride == 1 && in_channels == out_channels) return;
    shortcut_conv_.emplace(build, name + ".shortcut.0", in_channels, out_channels, 1, stride);
    shortcut_norm_ = norm(build.tensors, name + ".shortcut.1", out_channels);
  }

  at::Tensor forward(const at::Tensor& x, bool training) const {
    at::Tensor y = norm1_->forward(conv1_.forward(x), training).relu_();
    y = norm2_->forward(conv2_.forward(y), training);
    const at::Tensor shortcut =
        shortcut_conv_ ? shortcut_norm_->forward(shortcut_conv_->forward(x), training) : x;
    return y.add_(shortcut).relu_();
  }

 private:
  Conv2d conv1_;
  std::unique_ptr<Norm> norm1_;
  Conv2d conv2_;
  std::unique_ptr<Norm> norm2_;
  std::optional<Conv2d> shortcut_conv_;
  std::unique_ptr<Norm> shortcut_norm_;
};

template <typename Image>
std::string winograd_text(const WinogradConv<Image>& conv) {
  return "Winograd's " + std::string(conv.name()) +
         " where they are 3x3 with stride 1 and 32 channels or more, else LibTorch's";
}

class MiniResNet : public Model {
 public:
  MiniResNet(const ImageClassifierShape& shape, std::int64_t width, const NormFactory& norm,
             at::Generator generator, ConvAlgorithm algorithm)
      : winograd_(make_winograd(algorithm)), asked_for_(algorithm != ConvAlgorithm::automatic) {
    NetworkBuild build{tensors_, generator, winograd_};
    conv_.emplace(build, "conv1", shape.in_channels, width, 3, 1);
    norm_ = norm(tensors_, "norm1", width);
    std::int64_t channels = width;
    for (std::int64_t stage = 0; stage < 3; ++stage) {
      const std::string name = "layer" + std::to_string(stage + 1);
      const std::int64_t out_channels = width << stage;
      blocks_.emplace_back(build, norm, name + ".0", channels, out_channels, stage == 0 ? 1 : 2);
      blocks_.emplace_back(build, norm, name + ".1", out_channels, out_channels, 1);
      channels = out_channels;
    }
    classifier_.emplace(build, "fc", channels, shape.num_classes);
  }

  at::Tensor forward(const at::Tensor& images) override {
    at::Tensor x = norm_->forward(conv_->forward(images), training_).relu_();
    for (const BasicBlock& block : blocks_) x = block.forward(x, training_);
    return classifier_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  std::vector<NamedTensor> parameters() const override { return tensors_.parameters(); }
  std::vector<NamedTensor> buffers() const override { return tensors_.buffers(); }
  void set_training(bool training) override { training_ = training; }

  std::string convolutions(DType dtype) const override {
    if (!winograd_) return "LibTorch's";
    if (dtype == DType::float32 && winograd_->float32) return winograd_text(*winograd_->float32);
    if (dtype == DType::bfloat16 && winograd_->bfloat16) return winograd_text(*winograd_->bfloat16);
    if (!asked_for_) return "LibTorch's";
    return "LibTorch's, since there is no Winograd's in " + std::string(name_of(dtype)) +
           " for this processor";
  }

 private:
  NetworkTensors tensors_;
  std::shared_ptr<WinogradConvs> winograd_;
  bool asked_for_;  // Winograd's
  std::optional<Conv2d> conv_;
  std::unique_ptr<Norm> norm_;
  std::vector<BasicBlock> blocks_;
  std::optional<Linear> classifier_;
  bool training_ = true;
};

}  // namespace

std::unique_ptr<Model> make_mini_resnet(const ImageClassifierShape& shape, std::int64_t width,
                                        const NormFactory& norm, std::uint64_t seed,
                                        ConvAlgorithm algorithm) {
  return std::make_unique<MiniResNet>(shape, width, norm, at::detail::createCPUGenerator(seed),
                                      algorithm);
}

FieldTable MiniResNetBuilder::fields() {
  return {
      field("width", width_, "channels of the first stage; the later ones have 2 and 4 times it",
            between(1, 65536)),
      field("norm", norm_,
            "normalisation: batch, over a rank's micro-batch, or group, within each sample",
            {"batch", "group"}),
      field("conv_algorithm", conv_algorithm_,
            "3x3 convolutions: direct, LibTorch's; winograd, faster where the processor can, but "
            "with other rounding; winograd_fast: yet faster in bf16, and rounding more; auto: "
            "winograd in float32 with up to 8 threads, else direct",
            {"auto", "direct", "winograd", "winograd_fast"})};
}

std::unique_ptr<Model> MiniResNetBuilder::build(const ImageClassifierShape& shape,
                                                std::uint64_t seed) const {
  const std::map<std::string, ConvAlgorithm> algorithms{
      {"auto", ConvAlgorithm::automatic},
      {"direct", ConvAlgorithm::direct},
      {"winograd", ConvAlgorithm::winograd},
      {"winograd_fast", ConvAlgorithm::winograd_fast}};
  return make_mini_resnet(shape, width_, norm_ == "batch" ? batch_norm() : group_norm(), seed,
                          algorithms.at(conv_algorithm_));
}

}  // namespace lockstep
