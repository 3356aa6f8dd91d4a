#include <utility>

#include "lockstep/data/image_transform.hpp"

namespace lockstep {
namespace {

class NormalizedDataset : public Dataset {
 public:
  NormalizedDataset(std::unique_ptr<Dataset> raw, ImageTransform transform)
      : raw_(std::move(raw)), transform_(std::move(transform)) {}

  const std::string& name() const override { return raw_->name(); }
  std::int64_t size() const override { return raw_->size(); }
  ImageShape image_shape() const override { return raw_->image_shape(); }
  std::int64_t num_classes() const override { return raw_->num_classes(); }
  std::int64_t label(std::int64_t id) const override { return raw_->label(id); }
  std::int64_t read(std::int64_t id, std::span<float> image) const override {
    const std::int64_t label = raw_->read(id, image);
    transform_.normalize(image, raw_->image_shape());
    return label;
  }

 private:
  std::unique_ptr<Dataset> raw_;
  ImageTransform transform_;
};

}  // namespace

std::unique_ptr<Dataset> normalized(std::unique_ptr<Dataset> dataset,
                                    const ImageTransform& transform) {
  if (!dataset || !transform.normalizes()) return dataset;
  return std::make_unique<NormalizedDataset>(std::move(dataset), transform);
}

}  // namespace lockstep
