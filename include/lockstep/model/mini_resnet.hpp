#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lockstep/model/conv_algorithm.hpp"
#include "lockstep/model/model.hpp"
#include "lockstep/model/norm.hpp"

namespace lockstep {

/// A residual network for small images (He et al., 2015, section 4.2, with wider and fewer stages):
/// a 3x3 stem of `width` channels, three stages of two basic blocks with width, 2 width and 4 width
/// channels, the second and third at half the resolution of the one before, global average pooling
/// and a linear layer. Names: conv1, norm1, layer{1,2,3}.{0,1}.{conv1,norm1,conv2,norm2}, with
/// shortcut.0 (1x1 convolution) and shortcut.1 (norm) where the shape changes, fc.
std::unique_ptr<Model> make_mini_resnet(const ImageClassifierShape& shape, std::int64_t width,
                                        const NormFactory& norm, std::uint64_t seed,
                                        ConvAlgorithm algorithm = ConvAlgorithm::direct);

/// Fields: `width` (64: 2,777,674 parameters for 3 channels and 10 classes) and `norm` (batch or
/// group), `conv_algorithm` (auto, direct, winograd or winograd_fast).
class MiniResNetBuilder : public ModelBuilder {
 public:
  FieldTable fields() override;
  std::unique_ptr<Model> build(const ImageClassifierShape& shape,
                               std::uint64_t seed) const override;

 private:
  std::int64_t width_ = 64;
  std::string norm_ = "batch";
  std::string conv_algorithm_ = "auto";
};

}  // namespace lockstep
